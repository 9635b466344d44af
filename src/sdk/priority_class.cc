#include "sdk/priority_class.h"

#include "json/parse.h"
#include "json/value.h"

namespace codeflare::sdk {

Task<Result<std::optional<std::int64_t>>> priority_of_class(kube::Client& client,
                                                            std::string name) {
  using Priority = std::optional<std::int64_t>;
  if (name.empty()) {
    co_return Priority();
  }
  const model::ResourceType classes{"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses",
                                    false};
  const Result<kube::ObjectRef> found = co_await client.get(classes, {"", name});
  if (!found && found.error().code == ErrorCode::permission_denied) {
    co_return Priority();
  }
  if (!found && found.error().code == ErrorCode::not_found) {
    co_return fail(not_found("priority_class: PriorityClass '" + name +
                             "' not found; create it, or name another one"));
  }
  if (!found) {
    co_return fail(found.error());
  }
  CO_TRY_ASSIGN(const json::Document object, json::parse((*found)->text()));
  const json::Value* value = object.root.find("value");
  co_return Priority(value == nullptr ? 0 : value->to_int64().value_or(0));
}

}  // namespace codeflare::sdk
