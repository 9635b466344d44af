#pragma once

#include "base/log.h"
#include "controllers/raycluster/kuberay_present.h"
#include "controllers/rayjob/ray_dashboard.h"
#include "controllers/rayjob/rayjob_decision.h"
#include "net/http.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>

namespace codeflare::controllers::rayjob {

// Runs RayJobs (ray.io/v1; what is stored as v1alpha1 reads the same) on clusters without the
// KubeRay operator. Observes the caches and, while a job runs, its dashboard; decides purely; then
// talks to the dashboard and writes. SidecarMode and deletionStrategy are rejected.
class RayJobReconciler final : public runtime::Reconciler {
 public:
  // `api` leads to the API server.
  RayJobReconciler(const runtime::ControllerContext& context, net::HttpService& api,
                   std::shared_ptr<raycluster::KubeRayWatch> kuberay);

  Task<Result<runtime::Next>> reconcile(runtime::ObjectKey key) override;

 private:
  std::optional<Observed> observe(const runtime::ObjectKey& key) const;
  runtime::Plan plan(const Observed& observed, const Desired& desired) const;
  Task<Result<void>> call_ray(const Observed& observed, const Desired& desired);

  Env env_;
  runtime::Actor& actor_;
  const runtime::Store& jobs_;
  const runtime::Store& clusters_;
  const runtime::Store& submitters_;
  const runtime::Store& services_;
  RayDashboards dashboards_;
  std::shared_ptr<raycluster::KubeRayWatch> kuberay_;
};

struct RayControllersOptions {
  bool jobs_served = true;
  // Null: no operator is looked for.
  std::shared_ptr<raycluster::KubeRayWatch> kuberay{};
};

// The controllers of RayClusters and of RayJobs, if the cluster knows these. They leave both alone
// while a KubeRay operator runs, which goes on with the same objects.
void add_ray_controllers(runtime::Manager& manager, net::HttpService& api,
                         RayControllersOptions options);

}  // namespace codeflare::controllers::rayjob
