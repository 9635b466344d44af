#pragma once

#include "base/log.h"
#include "controllers/raycluster/ray_decision.h"
#include "controllers/raycluster/ray_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <functional>
#include <optional>

namespace codeflare::controllers::raycluster {

// Runs RayClusters (ray.io/v1; what is stored as v1alpha1 reads the same) on clusters without the
// KubeRay operator. Not done, and said in an event where it is asked for: the autoscaler, fault
// tolerance of the control store, ingress.
class RayClusterReconciler final : public runtime::StoryReconciler<Observed, Desired> {
 public:
  explicit RayClusterReconciler(const runtime::ControllerContext& context);

  std::optional<Observed> observe(const runtime::ObjectKey& key) const override;
  Desired desired(const Observed& observed, WallTime now) const override;
  runtime::Plan diff(const Observed& observed, const Desired& desired) const override;

  // Leaves all clusters as they are from now on.
  void stop() { stopped_ = true; }

 private:
  const runtime::Store& clusters_;
  const runtime::Store& services_;
  RayPods pods_;
  Random& random_;
  bool stopped_ = false;
};

RayClusterReconciler& add_raycluster_controller(runtime::Manager& manager);
// Calls `stop` when the KubeRay operator comes later; it goes on with the same pods.
void give_way_to_kuberay(runtime::Manager& manager, std::function<void()> stop, Logger logger);

}  // namespace codeflare::controllers::raycluster
