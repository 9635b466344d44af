#include "apiserver/registry/edit.h"

#include "json/member_index.h"

#include <algorithm>
#include <vector>

namespace codeflare::apiserver {

namespace {

const json::Value kEmptyObject = json::Value::object();

bool is_zero(const json::Value* value) {
  if (value == nullptr) {
    return true;
  }
  switch (value->kind()) {
    case json::Kind::null:
      return true;
    case json::Kind::boolean:
      return !value->as_bool();
    case json::Kind::number:
      return value->to_int64() == 0;
    case json::Kind::string:
      return value->as_string().empty();
    case json::Kind::array:
      return value->size() == 0;
    case json::Kind::object:
      return std::ranges::all_of(value->members(),
                                 [](const json::Member& member) { return is_zero(&member.value); });
  }
  return false;
}

}  // namespace

bool absent(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value == nullptr || value->is_null();
}

const json::Value& object_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value != nullptr && value->is_object() ? *value : kEmptyObject;
}

const json::Value& object_at(const json::Value& parent,
                             std::initializer_list<std::string_view> path) {
  const json::Value* at = &parent;
  for (std::string_view key : path) {
    at = &object_at(*at, key);
  }
  return *at;
}

json::Value& make_object(json::Arena& arena, json::Value& parent, std::string_view key) {
  json::Value* value = parent.find(key);
  if (value != nullptr && value->is_object()) {
    return *value;
  }
  return parent.set(arena, key, json::Value::object());
}

std::span<const json::Value> items_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value != nullptr ? value->items() : std::span<const json::Value>();
}

std::span<json::Value> items_at(json::Value& parent, std::string_view key) {
  json::Value* value = parent.find(key);
  return value != nullptr ? value->items() : std::span<json::Value>();
}

std::string_view text_at(const json::Value& parent, std::string_view key) {
  return parent.string_or_empty(key);
}

std::optional<std::int64_t> integer_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value != nullptr && value->is_number() ? value->to_int64() : std::nullopt;
}

bool true_at(const json::Value& parent, std::string_view key) {
  const json::Value* value = parent.find(key);
  return value != nullptr && value->is_boolean() && value->as_bool();
}

void default_text(json::Arena& arena, json::Value& parent, std::string_view key,
                  std::string_view value) {
  if (absent(parent, key) || (parent.find(key)->is_string() && text_at(parent, key).empty())) {
    parent.set(arena, key, json::Value::string(arena, value));
  }
}

void default_integer(json::Arena& arena, json::Value& parent, std::string_view key,
                     std::int64_t value) {
  if (absent(parent, key)) {
    parent.set(arena, key, json::Value::integer(arena, value));
  }
}

void default_nonzero(json::Arena& arena, json::Value& parent, std::string_view key,
                     std::int64_t value) {
  if (absent(parent, key) || integer_at(parent, key) == 0) {
    parent.set(arena, key, json::Value::integer(arena, value));
  }
}

void default_boolean(json::Arena& arena, json::Value& parent, std::string_view key, bool value) {
  if (absent(parent, key)) {
    parent.set(arena, key, json::Value::boolean(value));
  }
}

void copy_member(json::Arena& arena, json::Value& parent, const json::Value& from,
                 std::string_view key) {
  const json::Value* value = from.find(key);
  if (value == nullptr) {
    parent.erase(key);
  } else {
    parent.set(arena, key, value->clone(arena));
  }
}

void copy_missing(json::Arena& arena, json::Value& to, const json::Value& from) {
  json::MemberIndex present(to.members());
  std::vector<const json::Member*> missing;
  for (const json::Member& member : from.members()) {
    if (present.find(member.key) == nullptr) {
      missing.push_back(&member);
    }
  }
  for (const json::Member* member : missing) {
    to.append(arena, member->key, member->value.clone(arena));
  }
}

bool same(const json::Value* a, const json::Value* b) {
  if (is_zero(a) || is_zero(b)) {
    return is_zero(a) && is_zero(b);
  }
  if (a->kind() != b->kind()) {
    return false;
  }
  if (a->is_array()) {
    return std::ranges::equal(
        a->items(), b->items(),
        [](const json::Value& x, const json::Value& y) { return same(&x, &y); });
  }
  if (a->is_object()) {
    json::MemberIndex in_a(a->members());
    json::MemberIndex in_b(b->members());
    // Common members are compared once: from both sides, each level would double the cost.
    return std::ranges::all_of(a->members(),
                               [&](const json::Member& member) {
                                 return same(&member.value, in_b.find(member.key));
                               }) &&
           std::ranges::all_of(b->members(), [&](const json::Member& member) {
             return in_a.find(member.key) != nullptr || is_zero(&member.value);
           });
  }
  return json::equal(*a, *b);
}

std::string first_difference(const json::Value& a, const json::Value& b, std::string_view path) {
  json::MemberIndex in_a(a.members());
  json::MemberIndex in_b(b.members());
  for (const json::Member& member : a.members()) {
    const json::Value* other = in_b.find(member.key);
    if (!same(&member.value, other)) {
      const std::string at = child(path, member.key);
      return other != nullptr && other->is_object() && member.value.is_object()
                 ? first_difference(member.value, *other, at)
                 : at;
    }
  }
  for (const json::Member& member : b.members()) {
    if (!same(&member.value, in_a.find(member.key))) {
      return child(path, member.key);
    }
  }
  return std::string(path);
}

std::string at_index(std::string_view path, std::size_t index) {
  return std::string(path) + "[" + std::to_string(index) + "]";
}

std::string at_key(std::string_view path, std::string_view key) {
  return std::string(path) + "[" + std::string(key) + "]";
}

std::string child(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

}  // namespace codeflare::apiserver
