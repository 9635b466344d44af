#include "apiserver/patch/internal/list_order.h"

#include "apiserver/patch/internal/go_print.h"
#include "apiserver/patch/internal/patch_errors.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::internal {

using json::Kind;
using json::Value;

std::optional<std::string> element_key(const Value& element, std::string_view merge_key) {
  const Value* scalar = &element;
  static const Value kNull{};
  if (!merge_key.empty()) {
    scalar = element.find(merge_key);
    scalar = scalar == nullptr ? &kNull : scalar;
  }
  switch (scalar->kind()) {
    case Kind::null:
      return "n";
    case Kind::boolean:
      return scalar->as_bool() ? "t" : "f";
    case Kind::number:
      return (is_go_integer(*scalar) ? "i" : "d") + go_print(*scalar);
    case Kind::string:
      return "s" + std::string(scalar->as_string());
    case Kind::array:
    case Kind::object:
      break;
  }
  return std::nullopt;
}

ElementIndex::ElementIndex(const Values& list, std::string_view merge_key) : merge_key_(merge_key) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    add(list[i], i);
  }
}

void ElementIndex::add(const Value& element, std::size_t position) {
  if (auto key = element_key(element, merge_key_)) {
    positions_.try_emplace(*std::move(key), position);
  }
}

std::ptrdiff_t ElementIndex::find_key(const std::optional<std::string>& key) const {
  if (!key) {
    return -1;
  }
  auto at = positions_.find(*key);
  return at == positions_.end() ? -1 : static_cast<std::ptrdiff_t>(at->second);
}

std::ptrdiff_t ElementIndex::find(const Value& element) const {
  return find_key(element_key(element, merge_key_));
}

namespace {

struct Placed {
  Value element;
  std::ptrdiff_t position = -1;  // in the order it is sorted by
  std::size_t source = 0;        // where it stood before: equal positions keep their order
};

// As upstream: an element without a place in the order goes before whatever it is compared with,
// which does not order the list; it only happens with an empty $setElementOrder. Short lists come
// out as insertion sort leaves them there.
void sort_by_position(std::vector<Placed>& list) {
  constexpr std::size_t kInsertionMax = 20;
  bool all_placed = std::ranges::none_of(list, [](const Placed& p) { return p.position < 0; });
  if (all_placed || list.size() > kInsertionMax) {
    std::ranges::sort(list, {}, [](const Placed& p) { return std::pair(p.position, p.source); });
    return;
  }
  auto before = [](const Placed& a, const Placed& b) {
    return a.position < 0 || b.position < 0 || a.position < b.position;
  };
  for (std::size_t i = 1; i < list.size(); ++i) {
    for (std::size_t j = i; j > 0 && before(list[j], list[j - 1]); --j) {
      std::swap(list[j], list[j - 1]);
    }
  }
}

bool is_delete(const Value& element) {
  const Value* directive = element.find("$patch");
  return directive != nullptr && directive->is_string() && directive->as_string() == "delete";
}

// Elements marked for deletion go last, unsorted.
Values sorted(const Values& list, const ElementIndex& order) {
  std::vector<Placed> kept;
  Values deleted;
  for (const Value& element : list) {
    if (is_delete(element)) {
      deleted.push_back(element);
    } else {
      kept.push_back({element, order.find(element), kept.size()});
    }
  }
  sort_by_position(kept);
  Values result;
  result.reserve(list.size());
  for (const Placed& placed : kept) {
    result.push_back(placed.element);
  }
  result.insert(result.end(), deleted.begin(), deleted.end());
  return result;
}

Result<void> check_merge_keys(const Values& list, std::string_view merge_key) {
  for (const Value& element : list) {
    if (!element.is_object()) {
      return fail(bad_type("map[string]interface {}", element));
    }
    if (element.find(merge_key) == nullptr) {
      return fail(no_merge_key(element, merge_key));
    }
  }
  return {};
}

Values join(const Values& server_only, const Values& patch, const ElementIndex& server_order) {
  Values all;
  all.reserve(server_only.size() + patch.size());
  std::size_t left = 0;
  std::size_t right = 0;
  while (left < server_only.size() && right < patch.size()) {
    std::ptrdiff_t l = server_order.find(server_only[left]);
    std::ptrdiff_t r = server_order.find(patch[right]);
    bool server_first = l >= 0 && r >= 0 && l < r;
    all.push_back(server_first ? server_only[left++] : patch[right++]);
  }
  all.insert(all.end(), server_only.begin() + static_cast<std::ptrdiff_t>(left), server_only.end());
  all.insert(all.end(), patch.begin() + static_cast<std::ptrdiff_t>(right), patch.end());
  return all;
}

}  // namespace

Result<Values> normalize_order(const Values& merged, const Values& patch_order,
                               const Values& server_order, std::string_view merge_key) {
  if (!merge_key.empty()) {
    TRY(check_merge_keys(merged, merge_key));
    auto no_map = std::ranges::find_if(patch_order, [](const Value& v) { return !v.is_object(); });
    if (!merged.empty() && no_map != patch_order.end()) {
      return fail(unexpected("value for key " + std::to_string(no_map - patch_order.begin()) +
                             " is not a map"));
    }
    TRY(check_merge_keys(patch_order, merge_key));
    TRY(check_merge_keys(server_order, merge_key));
  }
  ElementIndex in_patch(patch_order, merge_key);
  ElementIndex in_server(server_order, merge_key);
  Values of_patch;
  Values server_only;
  for (const Value& element : merged) {
    (in_patch.find(element) >= 0 ? of_patch : server_only).push_back(element);
  }
  return join(sorted(server_only, in_server), sorted(of_patch, in_patch), in_server);
}

}  // namespace codeflare::apiserver::internal
