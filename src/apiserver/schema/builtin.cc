#include "apiserver/schema/builtin.h"

#include "apiserver/schema/internal/tables.h"

#include <algorithm>
#include <tuple>

namespace codeflare::apiserver::schema {

const Node* find_builtin(std::string_view group, std::string_view version, std::string_view kind) {
  auto key = [](const BuiltinKind& entry) {
    return std::tuple(entry.group, entry.version, entry.kind);
  };
  const auto wanted = std::tuple(group, version, kind);
  const auto* found = std::ranges::lower_bound(generated::kKinds, wanted, {}, key);
  return found != std::end(generated::kKinds) && key(*found) == wanted ? found->schema : nullptr;
}

std::span<const BuiltinKind> builtin_kinds() {
  return generated::kKinds;
}

const Node& object_meta() {
  return *generated::kObjectMeta;
}

std::span<const BuiltinResource> builtin_resources() {
  return generated::kResources;
}

}  // namespace codeflare::apiserver::schema
