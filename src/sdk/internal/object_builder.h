#pragma once

#include "base/check.h"
#include "json/parse.h"
#include "json/value.h"
#include "model/extra.h"
#include "model/list.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sdk::internal {

// Shorthand for trees of Kubernetes objects; every value lives in `arena`. Keys are literals.
class ObjectBuilder {
 public:
  explicit ObjectBuilder(json::Arena& arena) : arena_(arena) {}

  json::Value text(std::string_view value) { return json::Value::string(arena_, value); }
  json::Value number(std::int64_t value) { return json::Value::integer(arena_, value); }
  json::Value texts(const std::vector<std::string>& values) {
    json::Value list = json::Value::array();
    for (const std::string& value : values) {
      list.push_back(arena_, text(value));
    }
    return list;
  }
  json::Value map(const model::StringMap& values) {
    json::Value object = json::Value::object();
    for (const auto& [key, value] : values) {
      object.set(arena_, key, text(value));
    }
    return object;
  }
  // {"name": value}
  json::Value named(std::string_view value) {
    json::Value object = json::Value::object();
    set(object, "name", text(value));
    return object;
  }
  // A list; empty text is an empty one. The text was checked before.
  json::Value list(const model::RawJson& json) {
    if (json.empty()) {
      return json::Value::array();
    }
    const Result<json::Document> parsed = json::parse(json.text);
    CHECK(parsed.has_value() && parsed->root.is_array());
    return parsed->root.clone(arena_);
  }

  void set(json::Value& object, std::string_view key, json::Value value) {
    object.set_static(arena_, key, value);
  }
  void set_text(json::Value& object, std::string_view key, std::string_view value) {
    if (!value.empty()) {
      set(object, key, text(value));
    }
  }
  // Left out when it has no children.
  void set_if(json::Value& object, std::string_view key, json::Value value) {
    if (value.size() > 0) {
      set(object, key, value);
    }
  }
  void push(json::Value& array, json::Value value) { array.push_back(arena_, value); }

 private:
  json::Arena& arena_;
};

}  // namespace codeflare::sdk::internal
