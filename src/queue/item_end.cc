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
  const WrappedKind* kind = find_kind_of(object);
  return kind == nullptr ? any_success(object) : kind->succeeded(object);
}

}  // namespace codeflare::queue
