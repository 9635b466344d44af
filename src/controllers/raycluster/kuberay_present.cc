#include "controllers/raycluster/kuberay_present.h"

#include "base/async/sleep.h"
#include "controllers/raycluster/ray_names.h"
#include "kube/typed.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

constexpr std::string_view kLeaseName = "ray-operator-leader";

// Longer than operators go without renewing.
constexpr Duration kLeaseFresh = std::chrono::minutes(1);

constexpr Duration kLookAgain = std::chrono::minutes(1);

Task<Result<std::optional<std::string>>> by_lease(kube::Client& client) {
  kube::Api<model::Lease> leases(client);
  kube::ListOptions named{.field_selector = "metadata.name=" + std::string(kLeaseName)};
  CO_TRY_ASSIGN(const auto list, co_await leases.list(std::move(named)));
  const WallTime now = client.env().clock.wall();
  for (const model::Lease& lease : list.items) {
    const bool held = !lease.spec.holder_identity.value_or("").empty();
    if (held && lease.spec.renew_time && now - lease.spec.renew_time->time < kLeaseFresh) {
      co_return "lease " + lease.metadata.key().to_string() + " held by " +
          *lease.spec.holder_identity;
    }
  }
  co_return std::nullopt;
}

Task<Result<std::optional<std::string>>> by_deployment(kube::Client& client) {
  kube::Api<model::Deployment> deployments(client);
  CO_TRY_ASSIGN(const auto list, co_await deployments.list());
  for (const model::Deployment& deployment : list.items) {
    const bool named = deployment.metadata.name.contains(kOperator) ||
                       model::find_or_empty(deployment.metadata.labels, kAppNameLabel) == kOperator;
    if (named && deployment.spec.replicas.value_or(1) > 0) {
      co_return "deployment " + deployment.metadata.key().to_string();
    }
  }
  co_return std::nullopt;
}

}  // namespace

Task<Result<std::optional<std::string>>> kuberay_present(kube::Client& client) {
  CO_TRY_ASSIGN(std::optional<std::string> found, co_await by_lease(client));
  if (!found) {
    CO_TRY_ASSIGN(found, co_await by_deployment(client));
  }
  co_return found;
}

Task<void> watch_for_kuberay(kube::Client& client, std::function<void(const std::string&)> found) {
  while (co_await sleep_for(kLookAgain)) {
    // What cannot be seen now may be seen a minute later.
    const Result<std::optional<std::string>> there = co_await kuberay_present(client);
    if (there && *there) {
      found(**there);
      co_return;
    }
  }
}

}  // namespace codeflare::controllers::raycluster
