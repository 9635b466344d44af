#include "queue/item_end.h"

#include "queue/kinds/kinds.h"
#include "queue/kinds/reported_end.h"

#include <algorithm>
#include <cctype>
#include <ranges>

namespace codeflare::queue {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

bool contains_word(std::string_view text, std::string_view words) {
  const std::string haystack = lower(text);
  const std::string wanted = lower(words);
  return std::ranges::any_of(std::views::split(wanted, ','), [&](auto&& piece) {
    std::string_view word(piece.begin(), piece.end());
    while (word.starts_with(' ')) {
      word.remove_prefix(1);
    }
    while (word.ends_with(' ')) {
      word.remove_suffix(1);
    }
    return !word.empty() && haystack.contains(word);
  });
}

bool has_words(const model::AppWrapper& wrapper) {
  return std::ranges::any_of(
      wrapper.spec.resources.generic_items,
      [](const model::GenericItem& item) { return !item.completion_status.empty(); });
}

// Of those that have or may have pods.
std::vector<ItemInfo>::const_iterator first_that_stays(const std::vector<ItemInfo>& items) {
  return std::ranges::find_if(items, [](const ItemInfo& item) {
    return item.life != Life::ends && item.life != Life::no_pods;
  });
}

// "Deployment web"
std::string name_of(const ItemInfo& item) {
  return item.kind + " " + item.key.name;
}

std::string life_text(const ItemInfo& item) {
  switch (item.life) {
    case Life::restarts:
      return "has the restartPolicy Always, so it never ends (Never or OnFailure would)";
    case Life::runs_on:
      return "runs until it is deleted";
    case Life::unknown:
    case Life::ends:
    case Life::no_pods:
      break;
  }
  return "is of a kind whose end is not known";
}

}  // namespace

bool is_complete(const json::Value& object, std::string_view words) {
  for (const json::Value& condition : conditions_of(object)) {
    if (is_true(condition) && contains_word(condition.string_or_empty("type"), words)) {
      return true;
    }
  }
  const json::Value* status = object.find("status");
  return status != nullptr && (contains_word(status->string_or_empty("phase"), words) ||
                               contains_word(status->string_or_empty("jobStatus"), words));
}

std::string failure_of(const json::Value& object) {
  const WrappedKind* kind = find_kind_of(object);
  return kind == nullptr ? any_failure(object) : kind->failure(object);
}

bool is_finished(const json::Value& object) {
  if (!failure_of(object).empty()) {
    return true;
  }
  return has_succeeded(object);
}

bool has_succeeded(const json::Value& object) {
  const WrappedKind* kind = find_kind_of(object);
  return kind == nullptr ? any_success(object) : kind->succeeded(object);
}

std::vector<bool> awaited_items(const model::AppWrapper& wrapper,
                                const std::vector<ItemInfo>& items) {
  std::vector<bool> awaited(items.size(), false);
  const auto& written = wrapper.spec.resources.generic_items;
  if (has_words(wrapper)) {
    // Fewer than there were, where nothing keeps the spec from being changed.
    for (std::size_t i = 0; i < std::min(items.size(), written.size()); ++i) {
      awaited[i] = !written[i].completion_status.empty();
    }
    return awaited;
  }
  if (first_that_stays(items) != items.end()) {
    return awaited;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    awaited[i] = items[i].life == Life::ends;
  }
  return awaited;
}

std::string why_it_stays(const model::AppWrapper& wrapper, const std::vector<ItemInfo>& items) {
  if (has_words(wrapper)) {
    return {};
  }
  if (const auto stays = first_that_stays(items); stays != items.end()) {
    return name_of(*stays) + " " + life_text(*stays) +
           "; no item has a completionstatus that says when the work is done";
  }
  const bool ends =
      std::ranges::any_of(items, [](const ItemInfo& item) { return item.life == Life::ends; });
  return ends ? "" : "none of its items has pods that could end";
}

}  // namespace codeflare::queue
