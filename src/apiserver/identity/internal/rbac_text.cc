#include "apiserver/identity/internal/rbac_text.h"

#include "apiserver/schema/builtin.h"
#include "apiserver/schema/builtin_form.h"
#include "base/check.h"
#include "json/write.h"

namespace codeflare::apiserver::internal {

std::string_view kind_name(RbacKind kind) {
  switch (kind) {
    case RbacKind::role:
      return "Role";
    case RbacKind::cluster_role:
      return "ClusterRole";
    case RbacKind::role_binding:
      return "RoleBinding";
    case RbacKind::cluster_role_binding:
      return "ClusterRoleBinding";
  }
  return {};
}

std::string stored_text(RbacKind kind, const json::Value& object, json::Arena& arena) {
  const schema::Node* node =
      schema::find_builtin("rbac.authorization.k8s.io", "v1", kind_name(kind));
  CHECK(node != nullptr);
  return json::to_text(schema::builtin_form(*node, object, arena));
}

}  // namespace codeflare::apiserver::internal
