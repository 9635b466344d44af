#include "cli/session/output.h"

#include "base/check.h"
#include "json/value.h"
#include "json/write.h"
#include "json/yaml.h"

#include <algorithm>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr std::size_t kIndent = 4;

json::Value shown_object(json::Arena& arena, const TypedObject& typed) {
  Result<json::Document> document = typed.object->parse();
  CHECK(document.has_value(), "an object holds JSON");
  json::Value root = json::Value::object();
  root.set_static(arena, "apiVersion", json::Value::string(arena, typed.type.api_version()));
  root.set_static(arena, "kind", json::Value::string(arena, typed.type.kind));
  if (json::Value* metadata = document->root.find("metadata")) {
    metadata->erase("managedFields");
  }
  for (const json::Member& member : document->root.members()) {
    root.set(arena, member.key, member.value.clone(arena));
  }
  return root;
}

std::string in_form(const json::Value& value, Output output) {
  return output == Output::yaml ? json::to_yaml(value)
                                : json::to_pretty_text(value, kIndent) + "\n";
}

}  // namespace

Result<Output> parse_output(std::string_view text) {
  if (text.empty() || text == "table") {
    return Output::table;
  }
  if (text == "wide") {
    return Output::wide;
  }
  if (text == "json") {
    return Output::json;
  }
  if (text == "yaml") {
    return Output::yaml;
  }
  if (text == "name") {
    return Output::name;
  }
  return fail(invalid_argument("-o " + std::string(text) + ": expected json, yaml, name or wide"));
}

std::string TypedObject::qualified_name() const {
  std::string text = singular;
  if (text.empty()) {
    text = type.kind;
    std::ranges::transform(text, text.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
  }
  if (!type.group.empty()) {
    text += "." + type.group;
  }
  return text + "/" + std::string(object->name());
}

std::string render_objects(const std::vector<TypedObject>& objects, Output output, bool as_list) {
  CHECK(!is_table(output), "tables know their columns");
  std::string text;
  if (output == Output::name) {
    for (const TypedObject& object : objects) {
      text += object.qualified_name() + "\n";
    }
    return text;
  }
  json::Arena arena;
  if (objects.size() == 1 && !as_list) {
    return in_form(shown_object(arena, objects.front()), output);
  }
  json::Value items = json::Value::array();
  for (const TypedObject& object : objects) {
    items.push_back(arena, shown_object(arena, object));
  }
  json::Value list = json::Value::object();
  list.set_static(arena, "apiVersion", json::Value::string_view_of("v1"));
  list.set_static(arena, "items", items);
  list.set_static(arena, "kind", json::Value::string_view_of("List"));
  json::Value metadata = json::Value::object();
  metadata.set_static(arena, "resourceVersion", json::Value::string_view_of(""));
  list.set_static(arena, "metadata", metadata);
  return in_form(list, output);
}

std::string machine_text(const std::function<json::Value(json::Arena&)>& make, Output output) {
  json::Arena arena;
  const json::Value value = make(arena);
  return output == Output::yaml ? json::to_yaml(value) : json::to_pretty_text(value) + "\n";
}

}  // namespace codeflare::cli
