#pragma once

#include "json/value.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// One step of a path in a FieldsV1 set. Views only: text and values belong to the objects and
// arenas that the set was made of.
struct PathElement {
  enum class Kind : std::uint8_t { field, key, value, index };  // in their order
  Kind kind = Kind::field;
  // field: the name; key: an object of the keys, by name; value: a scalar; index: a number.
  json::Value what;

  static PathElement field(std::string_view name) {
    return {Kind::field, json::Value::string_view_of(name)};
  }
};

// As upstream sorts: fields, keys, values, indices; numbers before text before booleans.
std::weak_ordering compare(const PathElement& a, const PathElement& b);
std::weak_ordering compare_values(const json::Value& a, const json::Value& b);

// "f:spec", "k:{\"name\":\"a\"}", "v:\"x\"", "i:0"
void append_element(std::string& out, const PathElement& element);
// Nothing for what cannot be read. The result may point into `text`, the rest is in the arena.
std::optional<PathElement> parse_element(json::Arena& arena, std::string_view text);

// ".spec", "[name=\"a\"]", "[=\"x\"]", "[0]"
void append_display(std::string& out, const PathElement& element);
// A displayed path, cut where it becomes longer than anybody reads.
std::string shortened(std::string_view path);

}  // namespace codeflare::apiserver::internal
