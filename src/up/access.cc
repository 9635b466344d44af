#include "up/access.h"

#include "controllers/access/access_table.h"
#include "controllers/access/user_roles.h"
#include "model/gvk.h"

#include <string>
#include <string_view>
#include <utility>

namespace codeflare::up {

namespace {

const model::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                                 false};
const model::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                    "clusterrolebindings", false};
constexpr std::string_view kManager = "codeflare-up";
constexpr std::string_view kManagedByLabel = "app.kubernetes.io/managed-by";

std::string role() {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",)"
         R"("metadata":{"name":"codeflare-up"},"rules":)" +
         controllers::rules_json(controllers::rules_of(controllers::up_access())) + "}";
}

std::string binding() {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",)"
         R"("metadata":{"name":"codeflare-up"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
         R"("kind":"ClusterRole","name":"codeflare-up"},"subjects":[{"apiGroup":)"
         R"("rbac.authorization.k8s.io","kind":"User","name":")" +
         std::string(kControllerUser) + R"("}]})";
}

// As metrics-server ships it: who sees pods sees what they use.
constexpr std::string_view kMetricsReader = "system:aggregated-metrics-reader";
std::string metrics_reader() {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":)"
         R"("system:aggregated-metrics-reader","labels":{)"
         R"("rbac.authorization.k8s.io/aggregate-to-view":"true",)"
         R"("rbac.authorization.k8s.io/aggregate-to-edit":"true",)"
         R"("rbac.authorization.k8s.io/aggregate-to-admin":"true"}},"rules":[{"apiGroups":)"
         R"(["metrics.k8s.io"],"resources":["pods","nodes"],"verbs":["get","list"]}]})";
}

// Another one's object is a chart's, which has the same text.
Task<Result<void>> ensure(kube::Client& client, const model::ResourceType& type,
                          std::string_view name, std::string body) {
  const model::ObjectKey key{"", std::string(name)};
  const Result<kube::ObjectRef> there = co_await client.get(type, key);
  if (!there && there.error().code != ErrorCode::not_found) {
    co_return fail(there.error());
  }
  if (!there || (*there)->string_at({"metadata", "labels", kManagedByLabel}) == kManager) {
    const kube::WriteOptions ours{.field_manager = std::string(kManager), .force = true};
    CO_TRY(co_await client.apply(type, key, std::move(body), ours));
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> grant_controller_access(kube::Client& client) {
  const kube::WriteOptions ours{.field_manager = std::string(kManager), .force = true};
  CO_TRY(co_await client.apply(kRoles, {"", "codeflare-up"}, role(), ours));
  CO_TRY(co_await client.apply(kBindings, {"", "codeflare-up"}, binding(), ours));
  co_return Result<void>();
}

Task<Result<void>> ensure_user_roles(kube::Client& client) {
  const kube::WriteOptions ours{.field_manager = std::string(kManager), .force = true};
  CO_TRY(co_await client.apply(kRoles, {"", std::string(kMetricsReader)}, metrics_reader(), ours));
  for (const controllers::UserRole& role : controllers::user_roles()) {
    CO_TRY(co_await ensure(client, kRoles, role.name, controllers::role_json(role, kManager)));
  }
  CO_TRY(co_await ensure(client, kBindings, controllers::kSizesRole,
                         controllers::sizes_binding_json(kManager)));
  co_return Result<void>();
}

}  // namespace codeflare::up
