#pragma once

#include "controllers/apps/deployment_decision.h"
#include "controllers/apps/workload_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>

namespace codeflare::controllers::apps {

// Rolls Deployments out over ReplicaSets: rolling update and recreate, pause, proportional scaling,
// revisions and their history, progress deadline, conditions as `kubectl rollout` reads them.
class DeploymentReconciler final
    : public runtime::StoryReconciler<ObservedDeployment, DesiredDeployment> {
 public:
  DeploymentReconciler(const runtime::ControllerContext& context,
                       std::shared_ptr<const WorkloadPods> pods);

  std::optional<ObservedDeployment> observe(const runtime::ObjectKey& key) const override;
  DesiredDeployment desired(const ObservedDeployment& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedDeployment& observed,
                     const DesiredDeployment& desired) const override;

 private:
  const runtime::Store& deployments_;
  const runtime::Store& sets_;
  std::shared_ptr<const WorkloadPods> pods_;
};

DeploymentReconciler& add_deployment_controller(runtime::Manager& manager,
                                                std::shared_ptr<const WorkloadPods> pods);

}  // namespace codeflare::controllers::apps
