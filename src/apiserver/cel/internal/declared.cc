#include "apiserver/cel/internal/declared.h"

#include "apiserver/schema/keywords.h"
#include "json/member_index.h"

#include <algorithm>
#include <optional>
#include <set>

namespace codeflare::apiserver::cel {
namespace {

using Kind = Declared::Kind;
using schema::keywords::flag_of;
using schema::keywords::has_default;
using schema::keywords::integer_of;
using schema::keywords::list_of;
using schema::keywords::object_of;
using schema::keywords::text_of;

constexpr std::uint64_t kRequestBytes = 3u << 20;
constexpr std::uint64_t kTextMax = kRequestBytes - 2;  // without its quotes
constexpr std::uint64_t kTimeMax = 32;                 // date-time, duration
constexpr std::uint64_t kDateBytes = 12;

Kind kind_of_text(std::string_view format) {
  if (format == "byte") {
    return Kind::bytes;
  }
  return format == "duration" || format == "date" || format == "date-time" ? Kind::scalar
                                                                           : Kind::text;
}

// The bound that the schema itself has.
std::optional<std::uint64_t> said(const json::Value& schema, std::string_view key) {
  std::optional<std::int64_t> value = integer_of(schema, key);
  return value ? std::optional(static_cast<std::uint64_t>(std::max<std::int64_t>(*value, 0)))
               : std::nullopt;
}

std::uint64_t longest_of(const json::Value& enumeration) {
  std::size_t longest = 0;
  for (const json::Value& value : enumeration.items()) {
    longest = std::max(longest, value.is_string() ? value.as_string().size() : 0);
  }
  return longest;
}

std::uint64_t text_max(const json::Value& schema) {
  const std::string_view format = text_of(schema, "format");
  if (format == "duration" || format == "date-time") {
    return kTimeMax;
  }
  if (format == "date") {
    return kDateBytes;
  }
  if (std::optional<std::uint64_t> length = said(schema, "maxLength")) {
    // A character has up to four bytes, and bytes are what is counted.
    return format == "byte" ? *length : *length * 4;
  }
  const json::Value* enumeration = list_of(schema, "enum");
  return enumeration != nullptr && format != "byte" ? longest_of(*enumeration) : kTextMax;
}

std::uint64_t text_bytes_min(const json::Value& schema) {
  const std::string_view format = text_of(schema, "format");
  return format == "duration" ? 3 : format == "date" ? kDateBytes : format == "date-time" ? 21 : 2;
}

}  // namespace

Declared declare(const json::Value& schema, bool resource) {
  const std::string_view type = text_of(schema, "type");
  Declared made{.schema = &schema,
                .resource = resource || flag_of(schema, "x-kubernetes-embedded-resource")};
  if (flag_of(schema, "x-kubernetes-int-or-string")) {
    made.kind = Kind::dynamic;
  } else if (type == "array") {
    const json::Value* items = object_of(schema, "items");
    made.kind = items != nullptr && declare(*items).visible() ? Kind::list : Kind::none;
  } else if (type == "object") {
    const json::Value* values = object_of(schema, "additionalProperties");
    made.kind = values == nullptr            ? Kind::object
                : declare(*values).visible() ? Kind::map
                                             : Kind::none;
  } else if (type == "string") {
    made.kind = kind_of_text(text_of(schema, "format"));
  } else if (type == "boolean" || type == "integer" || type == "number") {
    made.kind = Kind::scalar;
  }
  return made;
}

Declared declared_field(const Declared& object, std::string_view name) {
  if (object.kind != Kind::object) {
    return {};
  }
  if (object.schema == nullptr) {
    const bool known = name == "name" || name == "generateName";
    return {.kind = known ? Kind::text : Kind::none};
  }
  if (object.resource && (name == "apiVersion" || name == "kind")) {
    return {.kind = Kind::text};
  }
  if (object.resource && name == "metadata") {
    return {.kind = Kind::object};
  }
  const json::Value* properties = object_of(*object.schema, "properties");
  const json::Value* property = properties == nullptr ? nullptr : properties->find(name);
  return property == nullptr ? Declared{} : declare(*property);
}

Declared declared_element(const Declared& list_or_map) {
  if (list_or_map.kind != Kind::list && list_or_map.kind != Kind::map) {
    return {};
  }
  return declare(
      *list_or_map.schema->find(list_or_map.kind == Kind::list ? "items" : "additionalProperties"));
}

Declared declared_key() {
  return {.kind = Kind::text, .key = true};
}

std::uint64_t DeclaredSizes::elements_max(const Declared& declared) {
  if (declared.key) {
    return 0;
  }
  if (declared.schema == nullptr) {
    return declared.kind == Kind::text ? kTextMax : 0;
  }
  const json::Value& schema = *declared.schema;
  switch (declared.kind) {
    case Kind::dynamic: {
      std::optional<std::uint64_t> length = said(schema, "maxLength");
      return length ? *length * 4 : kTextMax;
    }
    case Kind::text:
    case Kind::bytes:
      return text_max(schema);
    case Kind::scalar:
      return text_of(schema, "type") == "string" ? text_max(schema) : 0;
    case Kind::list:
      return said(schema, "maxItems")
          .value_or(kTextMax / (bytes_min(declared_element(declared)) + 1));
    case Kind::map:
      // A key, its quotes, the colon and the comma.
      return said(schema, "maxProperties")
          .value_or(kTextMax / (bytes_min(declared_element(declared)) + 6));
    default:
      return 0;
  }
}

std::uint64_t DeclaredSizes::bytes_min(const Declared& declared) {
  switch (declared.kind) {
    case Kind::none:
      return 0;
    case Kind::dynamic:
      return 1;
    case Kind::text:
    case Kind::bytes:
    case Kind::scalar: {
      const std::string_view type =
          declared.schema == nullptr ? "string" : text_of(*declared.schema, "type");
      return type == "boolean"            ? 4
             : type != "string"           ? 1
             : declared.schema == nullptr ? 2
                                          : text_bytes_min(*declared.schema);
    }
    default:
      break;
  }
  if (declared.kind != Kind::object || declared.schema == nullptr) {
    return 2;
  }
  auto [known, fresh] = bytes_min_.try_emplace(declared.schema, 2);
  if (!fresh) {
    return known->second;
  }
  std::uint64_t bytes = 2;
  const json::Value* required = list_of(*declared.schema, "required");
  const json::Value* properties = object_of(*declared.schema, "properties");
  if (required == nullptr || properties == nullptr) {
    return bytes;
  }
  json::MemberIndex index(properties->members());
  std::set<std::string_view> names;
  for (const json::Value& name : required->items()) {
    const json::Value* property = name.is_string() ? index.find(name.as_string()) : nullptr;
    if (property == nullptr || has_default(*property) || !names.insert(name.as_string()).second) {
      continue;
    }
    const Declared field = declare(*property);
    // Quotes, colon and comma.
    bytes += field.visible() ? name.as_string().size() + bytes_min(field) + 4 : 0;
  }
  bytes_min_[declared.schema] = bytes;
  return bytes;
}

std::uint64_t occurrences_max(const Declared& declared) {
  return kRequestBytes / (DeclaredSizes().bytes_min(declared) + 1);
}

}  // namespace codeflare::apiserver::cel
