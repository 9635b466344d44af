#pragma once

#include "controllers/apps/stateful_set_decision.h"
#include "controllers/apps/workload_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>

namespace codeflare::controllers::apps {

// Runs StatefulSets: pods with names, hostnames and claims of their own, made and removed in order
// or in parallel, rolling updates with a partition, revisions with their history. Not done:
// persistentVolumeClaimRetentionPolicy (claims are always kept) and maxUnavailable.
class StatefulSetReconciler final
    : public runtime::StoryReconciler<ObservedStatefulSet, DesiredStatefulSet> {
 public:
  StatefulSetReconciler(const runtime::ControllerContext& context,
                        std::shared_ptr<const WorkloadPods> pods);

  std::optional<ObservedStatefulSet> observe(const runtime::ObjectKey& key) const override;
  DesiredStatefulSet desired(const ObservedStatefulSet& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedStatefulSet& observed,
                     const DesiredStatefulSet& desired) const override;

 private:
  const runtime::Store& sets_;
  const runtime::Store& revisions_;
  const runtime::Store& claims_;
  std::shared_ptr<const WorkloadPods> pods_;
};

StatefulSetReconciler& add_stateful_set_controller(runtime::Manager& manager,
                                                   std::shared_ptr<const WorkloadPods> pods);

}  // namespace codeflare::controllers::apps
