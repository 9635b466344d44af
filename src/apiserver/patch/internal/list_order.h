#pragma once

#include "base/result.h"
#include "json/value.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Identity and order of list elements in a strategic merge patch.
namespace codeflare::apiserver::internal {

using Values = std::vector<json::Value>;

// The identity of an element: its merge key when `merge_key` is set, else the scalar. Numbers count
// as different when Go would decode them to different types; lists and maps equal nothing, so
// nothing is returned for them.
std::optional<std::string> element_key(const json::Value& element, std::string_view merge_key);

// The first position of each element.
class ElementIndex {
 public:
  ElementIndex(const Values& list, std::string_view merge_key);
  // -1: not there.
  std::ptrdiff_t find(const json::Value& element) const;
  std::ptrdiff_t find_key(const std::optional<std::string>& key) const;
  void add(const json::Value& element, std::size_t position);

 private:
  std::string_view merge_key_;
  std::map<std::string, std::size_t> positions_;  // not hashed: clients choose the keys
};

// Sorts elements of the patch by `patch_order` and the others by `server_order`, then joins both:
// the order within each is kept, and an element that only the server has comes before the first
// patch element that followed it on the server.
Result<Values> normalize_order(const Values& merged, const Values& patch_order,
                               const Values& server_order, std::string_view merge_key);

}  // namespace codeflare::apiserver::internal
