#include "tests/elastic/training_cluster.h"

#include "base/log.h"
#include "elastic/agent_access.h"
#include "elastic/kubernetes_store.h"

#include <utility>

namespace codeflare::elastic::testing {

namespace {

constexpr const char* kDefinition =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
    R"("metadata":{"name":"trainingjobs.breezeml.ai"},"spec":{"group":"breezeml.ai",)"
    R"("scope":"Namespaced","names":{"plural":"trainingjobs","singular":"trainingjob",)"
    R"("kind":"TrainingJob","listKind":"TrainingJobList"},"versions":[{"name":"v1","served":true,)"
    R"("storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object",)"
    R"("properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
    R"("status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

net::Peer peer(std::string name, std::vector<std::string> groups) {
  return {.address = "test",
          .certificate = net::Peer::Certificate{.common_name = std::move(name),
                                                .organizations = std::move(groups)}};
}

}  // namespace

Task<Result<void>> TrainingCluster::start(std::int32_t size_max) {
  apiserver::ApiServer::Options options{.data_directory = "/data",
                                        .durability = apiserver::Durability::memory};
  CO_TRY_ASSIGN(server_,
                co_await apiserver::ApiServer::start(env_, std::move(options), Logger(), metrics_));
  administrator_ = std::make_unique<net::InProcessService>(server_->service(),
                                                           peer("admin", {"system:masters"}));
  agents_ = std::make_unique<net::InProcessService>(
      server_->service(), peer("system:serviceaccount:default:default",
                               {"system:serviceaccounts", "system:serviceaccounts:default"}));
  admin_ = std::make_unique<kube::Client>(env_, *administrator_);

  const kube::ResourceType definitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                       "customresourcedefinitions", false};
  const kube::ResourceType roles{"rbac.authorization.k8s.io", "v1", "Role", "roles", true};
  const kube::ResourceType bindings{"rbac.authorization.k8s.io", "v1", "RoleBinding",
                                    "rolebindings", true};
  CO_TRY(co_await admin_->create(definitions, "", kDefinition));
  CO_TRY(co_await admin_->create(
      training_jobs(), "default",
      R"({"apiVersion":"breezeml.ai/v1","kind":"TrainingJob","metadata":{"name":"bert",)"
      R"("namespace":"default"},"spec":{}})"));
  const AgentAccess access{.ns = "default", .job = "bert", .size_max = size_max};
  CO_TRY(co_await admin_->create(roles, "default", agent_role(access)));
  CO_TRY(co_await admin_->create(bindings, "default", agent_role_binding(access)));
  CO_TRY(co_await admin_->create(leases(), "default",
                                 lease_without_holder("default", round_name("bert"))));
  for (std::int32_t index = 0; index < size_max; ++index) {
    CO_TRY(co_await admin_->create(leases(), "default",
                                   lease_without_holder("default", member_name("bert", index))));
  }
  co_return Result<void>();
}

Task<void> TrainingCluster::stop() {
  if (server_ != nullptr) {
    co_await server_->stop({});
  }
}

}  // namespace codeflare::elastic::testing
