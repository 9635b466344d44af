#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver::schema {

// The form of a JSON value. Built-in kinds come as constant tables generated from the published API
// definitions, custom resources are compiled from their structural schema; everything that walks
// objects (pruning, defaults, validation, patches, apply, OpenAPI) knows only this.
enum class Shape : std::uint8_t {
  any,            // no statement; kept as it is, but objects (also in a list) look like `items`
  boolean,        //
  integer,        // `bits` 32 or 64
  number,         //
  string,         //
  int_or_string,  //
  quantity,       // text or number, a resource amount
  time,           // RFC 3339 text, seconds
  micro_time,     // RFC 3339 text with microseconds
  duration,       // Go duration text
  bytes,          // base64 text
  structure,      // named fields
  map,            // any keys, values of `items`
  list,           // of `items`
};

enum class ListType : std::uint8_t { atomic, set, map };
// How a strategic merge patch treats a list or map; retain_keys may come on top. `none`: the
// definition says nothing, so lists are replaced, structures and maps are merged (a few structures
// say replace: the selector of a PodDisruptionBudget).
enum class PatchStrategy : std::uint8_t { none, replace, merge };

struct Node;

// How the protobuf form of a built-in kind stores a field (number 0: it does not), and which zero
// values its JSON form shows.
struct Wire {
  enum class Type : std::uint8_t { varint, fixed64, length, fixed32 };
  std::uint16_t number = 0;
  Type type = Type::length;  // of one element for lists
  bool pointer = false;      // absent and zero differ
  // Upstream leaves the zero value (null for pointers, lists and maps) out of JSON; otherwise it
  // writes it, as for every structure that is not a pointer: `resources: {}`.
  bool omit_empty = false;
};

// Messages whose JSON form is not an object of their fields.
enum class Encoding : std::uint8_t {
  plain,
  items,              // list: a message with the repeated field 1
  schema_or_list,     // any: JSONSchemaPropsOrArray
  schema_or_boolean,  // any: JSONSchemaPropsOrBool
  schema_or_strings,  // any: JSONSchemaPropsOrStringArray
};

struct Field {
  std::string_view name;  // as in JSON
  const Node* node = nullptr;
  Wire wire{};
  bool required = false;
};

// Value checks beyond the shape; mostly from custom resources.
struct Checks;

// Constant and shared once built: types that refer to each other form a graph with cycles.
struct Node {
  Shape shape = Shape::any;
  std::uint8_t bits = 0;
  ListType list_type = ListType::atomic;  // list
  PatchStrategy patch = PatchStrategy::none;
  bool retain_keys = false;  // structure, or the elements of a list
  bool atomic = false;  // structure, map: owned as a whole (x-kubernetes-map-type, struct-type)
  bool nullable = false;
  bool preserve_unknown = false;   // x-kubernetes-preserve-unknown-fields
  bool embedded_resource = false;  // has apiVersion, kind and metadata of its own
  Encoding encoding = Encoding::plain;
  std::string_view type_name{};     // of a structure: "io.k8s.api.core.v1.PodSpec"; else empty
  std::span<const Field> fields{};  // structure, sorted by name
  // Messages of the protobuf form whose fields belong to this structure's JSON object; they have
  // no name, and what they hold is among `fields` (without a number) as well.
  std::span<const Field> inlined{};
  const Node* items = nullptr;  // list, map; a structure's additionalProperties; see Shape::any
  std::span<const std::string_view> map_keys{};  // list_type map
  std::string_view merge_key{};                  // strategic merge of a list
  std::string_view default_json{};               // empty: none
  const Checks* checks = nullptr;

  const Field* find(std::string_view name) const;  // null: none
};

}  // namespace codeflare::apiserver::schema
