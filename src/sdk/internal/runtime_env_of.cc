#include "sdk/internal/runtime_env_of.h"

#include "json/parse.h"
#include "json/value.h"
#include "json/write.h"

#include <utility>

namespace codeflare::sdk::internal {

using json::Value;

Result<std::string> runtime_env_of(const JobSpec& spec) {
  Result<json::Document> parsed = json::parse(spec.runtime_env.empty() ? "{}" : spec.runtime_env);
  if (!parsed || !parsed->root.is_object()) {
    return fail(invalid_argument("runtime_env: " +
                                 (parsed ? "expected a JSON object" : parsed.error().message)));
  }
  json::Document& document = *parsed;
  Value& root = document.root;
  if (!spec.working_dir.empty()) {
    const Value* other = root.find("working_dir");
    if (other != nullptr && !other->is_null()) {
      return fail(invalid_argument(
          "working_dir: given both by itself and in runtime_env; leave one of them out"));
    }
    root.set_static(document.arena, "working_dir", Value::string(document.arena, spec.working_dir));
  }
  if (spec.env.empty()) {
    return json::to_text(root);
  }
  const Value* given = root.find("env_vars");
  Value variables = given == nullptr || given->is_null() ? Value::object() : *given;
  if (!variables.is_object()) {
    return fail(invalid_argument("runtime_env.env_vars: expected an object of texts"));
  }
  for (const auto& [name, value] : spec.env) {
    variables.set(document.arena, name, Value::string(document.arena, value));
  }
  root.set_static(document.arena, "env_vars", variables);
  return json::to_text(root);
}

}  // namespace codeflare::sdk::internal
