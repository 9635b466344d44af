#include "apiserver/identity/internal/review_object.h"

namespace codeflare::apiserver::internal {

using json::Value;

const Value* object_at(const Value& parent, std::string_view key) {
  const Value* member = parent.find(key);
  return member != nullptr && member->is_object() ? member : nullptr;
}

std::vector<std::string> strings_at(const Value& parent, std::string_view key) {
  std::vector<std::string> texts;
  const Value* list = parent.find(key);
  if (list == nullptr) {
    return texts;
  }
  for (const Value& item : list->items()) {
    if (item.is_string()) {
      texts.emplace_back(item.as_string());
    }
  }
  return texts;
}

Value to_strings(json::Arena& arena, const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) {
    list.push_back(arena, Value::string(arena, text));
  }
  return list;
}

Value to_user_info(json::Arena& arena, const User& user) {
  Value info = Value::object();
  if (!user.name.empty()) {
    info.set_static(arena, "username", Value::string(arena, user.name));
  }
  if (!user.uid.empty()) {
    info.set_static(arena, "uid", Value::string(arena, user.uid));
  }
  if (!user.groups.empty()) {
    info.set_static(arena, "groups", to_strings(arena, user.groups));
  }
  if (!user.extra.empty()) {
    Value extra = Value::object();
    for (const auto& [key, values] : user.extra) {
      extra.set(arena, key, to_strings(arena, values));
    }
    info.set_static(arena, "extra", extra);
  }
  return info;
}

Value answered(VirtualResource::Call& call, Value status) {
  Value review = Value::object();
  for (std::string_view key : {"kind", "apiVersion"}) {
    if (const Value* text = call.body.find(key)) {
      review.set_static(call.arena, key, *text);
    }
  }
  for (std::string_view key : {"metadata", "spec"}) {
    const Value* sent = object_at(call.body, key);
    review.set_static(call.arena, key, sent != nullptr ? *sent : Value::object());
  }
  review.set_static(call.arena, "status", status);
  return review;
}

}  // namespace codeflare::apiserver::internal
