#pragma once

#include "json/value.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace codeflare::apiserver::schema::keywords {

// Reading the JSON of a schema: what is absent or of the wrong kind reads as not said.

inline std::string_view text_of(const json::Value& schema, std::string_view key) {
  return schema.string_or_empty(key);
}

inline bool flag_of(const json::Value& schema, std::string_view key) {
  const json::Value* value = schema.find(key);
  return value != nullptr && value->is_boolean() && value->as_bool();
}

inline const json::Value* object_of(const json::Value& schema, std::string_view key) {
  const json::Value* value = schema.find(key);
  return value != nullptr && value->is_object() ? value : nullptr;
}

inline const json::Value* list_of(const json::Value& schema, std::string_view key) {
  const json::Value* value = schema.find(key);
  return value != nullptr && value->is_array() && value->size() > 0 ? value : nullptr;
}

inline std::optional<double> number_of(const json::Value& schema, std::string_view key) {
  const json::Value* value = schema.find(key);
  return value != nullptr && value->is_number() ? value->to_double() : std::nullopt;
}

inline std::optional<std::int64_t> integer_of(const json::Value& schema, std::string_view key) {
  const json::Value* value = schema.find(key);
  return value != nullptr && value->is_number() ? value->to_int64() : std::nullopt;
}

// additionalProperties: true, or a schema.
inline bool has_additional(const json::Value& schema) {
  return flag_of(schema, "additionalProperties") ||
         object_of(schema, "additionalProperties") != nullptr;
}

inline bool has_default(const json::Value& schema) {
  const json::Value* value = schema.find("default");
  return value != nullptr && !value->is_null();
}

// anyOf: [{type: integer}, {type: string}], which says nothing beyond x-kubernetes-int-or-string.
inline bool is_int_or_string_any_of(const json::Value& schema) {
  const json::Value* any = list_of(schema, "anyOf");
  return any != nullptr && any->size() == 2 && any->items()[0].size() == 1 &&
         any->items()[1].size() == 1 && text_of(any->items()[0], "type") == "integer" &&
         text_of(any->items()[1], "type") == "string";
}

}  // namespace codeflare::apiserver::schema::keywords
