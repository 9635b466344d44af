#include "apiserver/patch/testing/test_schema.h"

#include <algorithm>

namespace codeflare::apiserver {

using schema::Field;
using schema::Node;
using schema::Shape;

Node& TestSchema::add(Shape shape) {
  Node& node = nodes_.emplace_back();
  node.shape = shape;
  return node;
}

Node& TestSchema::map(const Node& values) {
  Node& node = add(Shape::map);
  node.items = &values;
  return node;
}

Node& TestSchema::structure(Fields fields, std::string_view type_name) {
  std::vector<Field>& sorted = fields_.emplace_back();
  for (const auto& [name, node] : fields) {
    sorted.push_back({.name = name, .node = node});
  }
  std::ranges::sort(sorted, {}, &Field::name);
  Node& node = add(Shape::structure);
  node.fields = sorted;
  node.type_name = type_name;
  return node;
}

Node& TestSchema::list(const Node& items) {
  Node& node = add(Shape::list);
  node.items = &items;
  return node;
}

Node& TestSchema::merged_list(const Node& items, std::string_view merge_key) {
  Node& node = list(items);
  node.patch = schema::PatchStrategy::merge;
  node.merge_key = merge_key;
  return node;
}

Node& TestSchema::set(const Node& items) {
  Node& node = list(items);
  node.list_type = schema::ListType::set;
  return node;
}

Node& TestSchema::keyed(const Node& items, std::initializer_list<std::string_view> keys) {
  Node& node = list(items);
  node.list_type = schema::ListType::map;
  node.map_keys = keys_.emplace_back(keys);
  return node;
}

}  // namespace codeflare::apiserver
