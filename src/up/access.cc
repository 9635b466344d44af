#include "up/access.h"

#include "model/gvk.h"

#include <string>

namespace codeflare::up {

namespace {

const model::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                                 false};
const model::ResourceType kBindings{"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding",
                                    "clusterrolebindings", false};

// The queue looks at and removes wrapped objects of any kind, and makes them in the name of whoever
// submitted them. The rest is what each controller writes.
constexpr std::string_view kRole = R"({
  "apiVersion": "rbac.authorization.k8s.io/v1",
  "kind": "ClusterRole",
  "metadata": {"name": "codeflare-up"},
  "rules": [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch", "delete"]},
    {"apiGroups": [""], "resources": ["users", "groups", "serviceaccounts"],
     "verbs": ["impersonate"]},
    {"apiGroups": ["authentication.k8s.io"], "resources": ["*"], "verbs": ["impersonate"]},
    {"apiGroups": [""], "resources": ["nodes", "pods", "pods/binding", "services", "events",
     "persistentvolumes", "persistentvolumeclaims", "serviceaccounts/token", "configmaps",
     "namespaces"],
     "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["codeflare-queue"],
     "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["persistentvolumes", "persistentvolumes/status",
     "persistentvolumeclaims", "persistentvolumeclaims/status"], "verbs": ["update", "patch"]},
    {"apiGroups": ["apps"], "resources": ["replicasets", "controllerrevisions"],
     "verbs": ["create"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["update", "patch"]},
    {"apiGroups": [""], "resources": ["nodes", "nodes/status"], "verbs": ["update", "patch"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["update", "patch"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update", "patch"]},
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["update", "patch"]},
    {"apiGroups": ["apps"], "resources": ["deployments", "deployments/status", "replicasets",
     "replicasets/status", "statefulsets/status", "controllerrevisions"],
     "verbs": ["update", "patch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"],
     "verbs": ["update", "patch"]},
    {"apiGroups": ["ray.io"], "resources": ["rayclusters/status", "rayjobs", "rayjobs/status"],
     "verbs": ["update", "patch"]},
    {"apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["create"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["services"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["create"]},
    {"apiGroups": ["workload.codeflare.dev", "mcad.ibm.com"],
     "resources": ["appwrappers", "appwrappers/status", "appwrappers/finalizers"],
     "verbs": ["update", "patch"]},
    {"apiGroups": ["quota.codeflare.dev"], "resources": ["quotasubtrees/status"],
     "verbs": ["update", "patch"]}
  ]
})";

std::string binding() {
  return R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",)"
         R"("metadata":{"name":"codeflare-up"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
         R"("kind":"ClusterRole","name":"codeflare-up"},"subjects":[{"apiGroup":)"
         R"("rbac.authorization.k8s.io","kind":"User","name":")" +
         std::string(kControllerUser) + R"("}]})";
}

}  // namespace

Task<Result<void>> grant_controller_access(kube::Client& client) {
  const kube::WriteOptions ours{.field_manager = "codeflare-up", .force = true};
  CO_TRY(co_await client.apply(kRoles, {"", "codeflare-up"}, std::string(kRole), ours));
  CO_TRY(co_await client.apply(kBindings, {"", "codeflare-up"}, binding(), ours));
  co_return Result<void>();
}

}  // namespace codeflare::up
