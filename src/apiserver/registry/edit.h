#pragma once

#include "apiserver/registry/resource.h"
#include "json/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Small words for strategies: reading and filling in trees of JSON. In Kubernetes an absent member,
// a null one and, for plain (non-pointer) fields, the zero value are the same.

// Missing or null.
bool absent(const json::Value& parent, std::string_view key);
// The member when it is an object; an empty object otherwise.
const json::Value& object_at(const json::Value& parent, std::string_view key);
const json::Value& object_at(const json::Value& parent,
                             std::initializer_list<std::string_view> path);
// The member as an object that may be changed; made when it is absent.
json::Value& make_object(json::Arena& arena, json::Value& parent, std::string_view key);
// The items of an array member; empty otherwise.
std::span<const json::Value> items_at(const json::Value& parent, std::string_view key);
std::span<json::Value> items_at(json::Value& parent, std::string_view key);

std::string_view text_at(const json::Value& parent, std::string_view key);
std::optional<std::int64_t> integer_at(const json::Value& parent, std::string_view key);
bool true_at(const json::Value& parent, std::string_view key);

// Fill in what is absent; text also when it is empty.
void default_text(json::Arena& arena, json::Value& parent, std::string_view key,
                  std::string_view value);
void default_integer(json::Arena& arena, json::Value& parent, std::string_view key,
                     std::int64_t value);
// Also when it is 0: for fields that can't tell 0 from absent.
void default_nonzero(json::Arena& arena, json::Value& parent, std::string_view key,
                     std::int64_t value);
void default_boolean(json::Arena& arena, json::Value& parent, std::string_view key, bool value);

// parent.key = copy of from.key, or without it when `from` has none.
void copy_member(json::Arena& arena, json::Value& parent, const json::Value& from,
                 std::string_view key);
// Members of `from` that `to` does not have.
void copy_missing(json::Arena& arena, json::Value& to, const json::Value& from);

// "spec.containers", the first place where two objects at `path` differ.
std::string first_difference(const json::Value& a, const json::Value& b, std::string_view path);

// Equal where absent, null, empty text, 0, false and empty containers count as the same.
bool same(const json::Value* a, const json::Value* b);

// "spec.ports[2]", "metadata.annotations[key]"
std::string at_index(std::string_view path, std::size_t index);
std::string at_key(std::string_view path, std::string_view key);
std::string child(std::string_view path, std::string_view name);

}  // namespace codeflare::apiserver
