#include "apiserver/schema/builtin.h"
#include "apiserver/schema/compile.h"
#include "apiserver/schema/walk.h"
#include "json/parse.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

// The first line is a schema, the rest an object: for any input the schema compiles or is rejected,
// and an object that it has completed stays the same the second time.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace json = codeflare::json;
  namespace schema = codeflare::apiserver::schema;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t line = text.find('\n');
  auto definition = json::parse(text.substr(0, line), {.max_depth = 64});
  if (!definition) {
    return 0;
  }
  codeflare::apiserver::FieldErrors errors;
  auto compiled = schema::compile(definition->root,
                                  {.object_meta = schema::object_meta(), .path = "s"}, errors);
  if ((compiled == nullptr) == errors.empty()) {
    __builtin_trap();
  }
  auto object =
      json::parse(line == std::string_view::npos ? "{}" : text.substr(line + 1), {.max_depth = 64});
  if (compiled == nullptr || !object) {
    return 0;
  }
  const schema::Node& root = compiled->root();
  schema::prune(root, object->root, nullptr);
  schema::apply_defaults(root, object->arena, object->root);
  codeflare::apiserver::FieldErrors complaints;
  schema::validate(root, object->root, nullptr, complaints);
  codeflare::apiserver::FieldErrors unchanged;
  schema::validate(root, object->root, &object->root, unchanged);
  json::Document again = json::compact(object->root);
  std::vector<std::string> unknown;
  schema::prune(root, again.root, &unknown);
  schema::apply_defaults(root, again.arena, again.root);
  if (!unknown.empty() || !json::equal(again.root, object->root)) {
    __builtin_trap();
  }
  return 0;
}
