#pragma once

#include "controllers/apps/replica_set_decision.h"
#include "controllers/apps/workload_pods.h"
#include "runtime/manager.h"
#include "runtime/reconciler.h"

#include <memory>
#include <optional>
#include <string>

namespace codeflare::controllers::apps {

// The pod that a template makes under this controller, with a name that the server completes.
std::string pod_body(const model::PodTemplateSpec& from, const std::string& generate_name,
                     const model::OwnerReference& owner);

// Keeps as many pods as a ReplicaSet asks for, adopts and releases by labels, and counts them.
// Not done: the ReplicaFailure condition; an event reports a rejected pod.
class ReplicaSetReconciler final
    : public runtime::StoryReconciler<ObservedReplicaSet, DesiredReplicaSet> {
 public:
  ReplicaSetReconciler(const runtime::ControllerContext& context,
                       std::shared_ptr<const WorkloadPods> pods);

  std::optional<ObservedReplicaSet> observe(const runtime::ObjectKey& key) const override;
  DesiredReplicaSet desired(const ObservedReplicaSet& observed, WallTime now) const override;
  runtime::Plan diff(const ObservedReplicaSet& observed,
                     const DesiredReplicaSet& desired) const override;

 private:
  const runtime::Store& sets_;
  std::shared_ptr<const WorkloadPods> pods_;
};

ReplicaSetReconciler& add_replica_set_controller(runtime::Manager& manager,
                                                 std::shared_ptr<const WorkloadPods> pods);

}  // namespace codeflare::controllers::apps
