#pragma once

#include "apiserver/patch/internal/field_set.h"
#include "apiserver/schema/schema.h"
#include "json/value.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// How server-side apply looks at values: as scalars, lists and maps that are owned as a whole or
// item by item.
namespace codeflare::apiserver::internal {

enum class Atom : std::uint8_t { scalar, list, map };

// The kind of a value at this node; where the node leaves it open, the value itself decides.
Atom atom_of(const schema::Node& node, const json::Value& value);
// Owned as a whole.
bool is_atomic(const schema::Node& node, Atom atom);

// The node of a member; null when the schema knows no such member.
const schema::Node* member_node(const schema::Node& node, std::string_view name);
// As member_node, but unknown members are taken as they are.
const schema::Node& member_node_or_any(const schema::Node& node, std::string_view name);
// The member is a field of a structure, no key of a map.
bool is_named_field(const schema::Node& node, std::string_view name);
const schema::Node& item_node(const schema::Node& list);

// The key of an item of a list that is a set or map. Nothing when it lacks all its keys or is of
// the wrong kind: `problem` says why.
std::optional<PathElement> item_element(json::Arena& arena, const schema::Node& list,
                                        const json::Value& item, std::string* problem = nullptr);

// item_element() for all items; an item without one is known by its position.
std::vector<PathElement> item_elements(json::Arena& arena, const schema::Node& list,
                                       std::span<const json::Value> items);

// The JSON that upstream's zero value of a built-in kind has: structures that are not pointers, and
// members that are written even when empty. Creation is compared with it. {} for custom resources.
json::Value zero_object(json::Arena& arena, const schema::Node& node);

// Items by element, in their order; several items may have the same element.
class ItemIndex {
 public:
  explicit ItemIndex(const std::vector<PathElement>& elements);
  // Positions of the items with this element; empty when there are none. Its cost does not grow
  // with the number of such items.
  std::span<const std::size_t> find(const PathElement& element) const;

 private:
  const std::vector<PathElement>& elements_;
  std::vector<std::size_t> sorted_;
};

}  // namespace codeflare::apiserver::internal
