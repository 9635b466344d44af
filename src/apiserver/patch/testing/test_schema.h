#pragma once

#include "apiserver/schema/schema.h"

#include <deque>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::apiserver {

// A graph of shapes made by hand, for tests that want to see all of it:
//   TestSchema s;
//   const Node& root = s.structure({{"name", &s.text()}, {"items", &s.list(s.text())}});
class TestSchema {
 public:
  using Node = schema::Node;
  using Fields = std::initializer_list<std::pair<std::string_view, const Node*>>;

  Node& text() { return add(schema::Shape::string); }
  Node& integer() { return add(schema::Shape::integer); }
  Node& any() { return add(schema::Shape::any); }
  Node& map(const Node& values);
  Node& structure(Fields fields, std::string_view type_name = "test.Thing");
  Node& list(const Node& items);
  // Strategic merge.
  Node& merged_list(const Node& items, std::string_view merge_key = {});
  // Server-side apply.
  Node& set(const Node& items);
  Node& keyed(const Node& items, std::initializer_list<std::string_view> keys);

 private:
  Node& add(schema::Shape shape);

  std::deque<Node> nodes_;
  std::deque<std::vector<schema::Field>> fields_;
  std::deque<std::vector<std::string_view>> keys_;
};

}  // namespace codeflare::apiserver
