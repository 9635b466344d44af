#pragma once

#include "controllers/raycluster/kuberay_present.h"
#include "controllers/raycluster/ray_decision.h"
#include "controllers/raycluster/ray_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>

namespace codeflare::controllers::raycluster {

// Carries out plans, but none that makes the first pod of a cluster while an operator runs: the
// operator makes pods as soon as its own cache is filled, which our watches may not show yet.
class FirstPodGuard final : public runtime::Actor {
 public:
  FirstPodGuard(runtime::Actor& actor, std::shared_ptr<KubeRayWatch> kuberay)
      : actor_(actor), kuberay_(std::move(kuberay)) {}

  Task<Result<void>> ready(runtime::ObjectKey key) override;
  // A plan that is left is made anew when the operator is gone.
  Task<Result<void>> act(runtime::ObjectKey key, runtime::Plan plan) override;

 private:
  runtime::Actor& actor_;
  std::shared_ptr<KubeRayWatch> kuberay_;
};

// Built before the reconciler that acts through it.
struct FirstPodGuardHolder {
  FirstPodGuard guard;
};

// Runs RayClusters (ray.io/v1; what is stored as v1alpha1 reads the same) on clusters without the
// KubeRay operator. Not done, and said in an event where it is asked for: fault tolerance of the
// control store, ingress.
class RayClusterReconciler final : private FirstPodGuardHolder,
                                   public runtime::StoryReconciler<Observed, Desired> {
 public:
  // `kuberay` may be null: no operator is looked for.
  RayClusterReconciler(const runtime::ControllerContext& context,
                       std::shared_ptr<KubeRayWatch> kuberay);

  std::optional<Observed> observe(const runtime::ObjectKey& key) const override;
  Desired desired(const Observed& observed, WallTime now) const override;
  runtime::Plan diff(const Observed& observed, const Desired& desired) const override;

 private:
  void wake_all() const;

  std::shared_ptr<KubeRayWatch> kuberay_;
  Env env_;
  const runtime::Store& clusters_;
  const runtime::Store& services_;
  RayPods pods_;
  runtime::Waker waker_;
};

// While `kuberay` sees an operator, RayClusters are left to the operator, which goes on with the
// same pods; when the operator is gone they are ours again.
RayClusterReconciler& add_raycluster_controller(runtime::Manager& manager,
                                                std::shared_ptr<KubeRayWatch> kuberay);

}  // namespace codeflare::controllers::raycluster
