#include "apiserver/patch/internal/typed.h"

#include "apiserver/patch/internal/map_edit.h"
#include "json/parse.h"

#include <algorithm>
#include <numeric>

namespace codeflare::apiserver::internal {

using json::Value;
using schema::Node;
using schema::Shape;

namespace {

// Values without a schema: maps are owned key by key, lists as a whole.
constexpr Node kDeduced{.shape = Shape::any};
// The node of elements in such a list.
constexpr Node kUntyped{.shape = Shape::any, .atomic = true};

}  // namespace

Atom atom_of(const Node& node, const Value& value) {
  switch (node.shape) {
    case Shape::structure:
    case Shape::map:
      return Atom::map;
    case Shape::list:
      return Atom::list;
    case Shape::any:
    case Shape::int_or_string:  // so loosely is it published
      return value.is_array()                       ? Atom::list
             : value.is_object() || value.is_null() ? Atom::map
                                                    : Atom::scalar;
    default:
      return Atom::scalar;
  }
}

bool is_atomic(const Node& node, Atom atom) {
  switch (atom) {
    case Atom::scalar:
      return true;
    case Atom::list:
      return node.shape != Shape::list || node.list_type == schema::ListType::atomic;
    case Atom::map:
      return node.atomic;
  }
  return true;
}

bool is_named_field(const Node& node, std::string_view name) {
  return node.shape == Shape::structure && node.find(name) != nullptr;
}

const Node* member_node(const Node& node, std::string_view name) {
  if (node.shape == Shape::any || node.shape == Shape::int_or_string) {
    return node.atomic ? &kUntyped : &kDeduced;
  }
  if (node.shape == Shape::structure) {
    if (const schema::Field* field = node.find(name)) {
      return field->node;
    }
  }
  if (node.items != nullptr) {
    return node.items;
  }
  return node.preserve_unknown || node.shape == Shape::map ? &kDeduced : nullptr;
}

const Node& member_node_or_any(const Node& node, std::string_view name) {
  const Node* member = member_node(node, name);
  return member == nullptr ? kDeduced : *member;
}

const Node& item_node(const Node& list) {
  return list.shape == Shape::list && list.items != nullptr ? *list.items : kUntyped;
}

namespace {

bool is_number_shape(Shape shape) {
  return shape == Shape::integer || shape == Shape::number || shape == Shape::int_or_string;
}

Value zero_value(json::Arena& arena, const schema::Field& field) {
  const Node& node = *field.node;
  if (field.wire.pointer || node.shape == Shape::list || node.shape == Shape::map ||
      node.shape == Shape::any || node.shape == Shape::time || node.shape == Shape::micro_time ||
      node.shape == Shape::bytes) {
    return {};
  }
  if (node.shape == Shape::structure) {
    std::vector<json::Member> members;
    for (const schema::Field& child : node.fields) {
      if (!child.wire.omit_empty) {
        members.push_back({child.name, zero_value(arena, child)});
      }
    }
    return make_object(arena, members);
  }
  if (node.shape == Shape::boolean) {
    return Value::boolean(false);
  }
  if (is_number_shape(node.shape)) {
    return Value::number_text("0");
  }
  return Value::string_view_of(node.shape == Shape::quantity ? "0" : "");
}

// The schema's default; upstream's built-in kinds have one for each member that is always written.
std::optional<Value> key_default(json::Arena& arena, const Node& list, std::string_view name) {
  const Node& item = item_node(list);
  const schema::Field* field = item.shape == Shape::structure ? item.find(name) : nullptr;
  if (field == nullptr) {
    return std::nullopt;
  }
  std::string_view text = field->node->default_json;
  if (text.empty()) {
    // This one says so in its definition, which the tables need not repeat: "" changes no object.
    bool local_reference = item.type_name == "io.k8s.api.core.v1.LocalObjectReference";
    bool always = !item.type_name.empty() && !field->wire.pointer &&
                  (!field->wire.omit_empty || local_reference);
    return always ? std::optional(zero_value(arena, *field)) : std::nullopt;
  }
  bool plain = text.size() >= 2 && text.front() == '"' && text.find('\\') == text.npos;
  if (plain) {
    return Value::string_view_of(text.substr(1, text.size() - 2));
  }
  auto parsed = json::parse_in_place(text);
  return parsed ? std::optional(parsed->root.clone(arena)) : std::nullopt;
}

std::optional<PathElement> keyed_element(json::Arena& arena, const Node& list, const Value& item,
                                         std::string* problem) {
  auto fail_with = [&](std::string text) -> std::optional<PathElement> {
    if (problem != nullptr) {
      *problem = std::move(text);
    }
    return std::nullopt;
  };
  if (!item.is_object()) {
    return fail_with(item.is_null() ? "associative list with keys may not have a null element"
                                    : "associative list with keys may not have non-map elements");
  }
  std::vector<json::Member> keys;
  keys.reserve(list.map_keys.size());
  for (std::string_view name : list.map_keys) {
    if (const Value* value = item.find(name)) {
      keys.push_back({name, *value});
    } else if (auto fallback = key_default(arena, list, name)) {
      keys.push_back({name, *fallback});
    }
  }
  if (keys.empty()) {
    std::string names;
    for (std::string_view name : list.map_keys) {
      names += (names.empty() ? "\"" : " \"") + std::string(name) + "\"";
    }
    return fail_with("associative list with keys has an element that omits all key fields [" +
                     names + "] (and doesn't have default values for any key fields)");
  }
  std::ranges::sort(keys, {}, &json::Member::key);
  return PathElement{PathElement::Kind::key, make_object(arena, keys)};
}

}  // namespace

std::optional<PathElement> item_element(json::Arena& arena, const Node& list, const Value& item,
                                        std::string* problem) {
  if (!list.map_keys.empty()) {
    return keyed_element(arena, list, item, problem);
  }
  std::string_view wrong;
  if (item.is_object()) {
    wrong = "associative list without keys has an element that's a map type";
  } else if (item.is_array()) {
    wrong = "not supported: associative list with lists as elements";
  } else if (item.is_null()) {
    wrong = "associative list without keys has an element that's an explicit null";
  } else {
    return PathElement{PathElement::Kind::value, item};
  }
  if (problem != nullptr) {
    *problem = wrong;
  }
  return std::nullopt;
}

std::vector<PathElement> item_elements(json::Arena& arena, const Node& list,
                                       std::span<const Value> items) {
  std::vector<PathElement> elements;
  elements.reserve(items.size());
  for (const Value& item : items) {
    auto element = item_element(arena, list, item);
    elements.push_back(
        element ? *element
                : PathElement{PathElement::Kind::index,
                              Value::integer(arena, static_cast<std::int64_t>(elements.size()))});
  }
  return elements;
}

Value zero_object(json::Arena& arena, const Node& node) {
  if (node.type_name.empty()) {
    return Value::object();
  }
  return zero_value(arena, {.name = "", .node = &node});
}

ItemIndex::ItemIndex(const std::vector<PathElement>& elements)
    : elements_(elements), sorted_(elements.size()) {
  std::iota(sorted_.begin(), sorted_.end(), std::size_t{0});
  std::ranges::sort(sorted_, [&](std::size_t a, std::size_t b) {
    auto order = compare(elements_[a], elements_[b]);
    return order < 0 || (order == 0 && a < b);
  });
}

std::span<const std::size_t> ItemIndex::find(const PathElement& element) const {
  auto first = std::ranges::partition_point(
      sorted_, [&](std::size_t i) { return compare(elements_[i], element) < 0; });
  auto last = std::partition_point(
      first, sorted_.end(), [&](std::size_t i) { return compare(elements_[i], element) == 0; });
  return {first, last};
}

}  // namespace codeflare::apiserver::internal
