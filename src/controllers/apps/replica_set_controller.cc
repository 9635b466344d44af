#include "controllers/apps/replica_set_controller.h"

#include "controllers/apps/claim.h"
#include "controllers/apps/owners.h"
#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "model/codec/apps.h"
#include "model/codec/pod.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kSets = model::resource_type<model::ReplicaSet>();

constexpr int kWorkers = 16;

Action make_pod(const std::string& ns, std::string body) {
  return {.verb = Action::Verb::create,
          .type = kPods,
          .key = {ns, ""},
          .body = std::move(body),
          .why = "more pods needed",
          .together = true};
}

Action remove_pod(const std::string& ns, const WorkloadPod& pod) {
  return {.verb = Action::Verb::remove,
          .type = kPods,
          .key = {ns, pod.name},
          .why = "fewer pods needed",
          .together = true,
          .removal = {.uid = pod.uid}};
}

}  // namespace

std::string pod_body(const model::PodTemplateSpec& from, const std::string& generate_name,
                     const model::OwnerReference& owner) {
  model::Pod pod;
  pod.metadata.generate_name = generate_name;
  pod.metadata.labels = from.metadata.labels;
  pod.metadata.annotations = from.metadata.annotations;
  pod.metadata.finalizers = from.metadata.finalizers;
  pod.metadata.owner_references.push_back(owner);
  pod.spec = from.spec;
  return model::to_json_text(pod);
}

ReplicaSetReconciler::ReplicaSetReconciler(const runtime::ControllerContext& context,
                                           std::shared_ptr<const WorkloadPods> pods)
    : StoryReconciler(context.env, context.actor),
      sets_(context.subject.store()),
      pods_(std::move(pods)) {}

std::optional<ObservedReplicaSet> ReplicaSetReconciler::observe(
    const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = sets_.get(key);
  if (object == nullptr) {
    return std::nullopt;  // what it controlled is the garbage collector's
  }
  Result<model::ReplicaSet> set = object->as<model::ReplicaSet>();
  if (!set) {
    return std::nullopt;  // the server does not let such a set in
  }
  ObservedReplicaSet observed{.set = *std::move(set),
                              .pods = pods_->of(object->uid()),
                              .orphans = pods_->orphans(key.ns),
                              .pods_on_node = {}};
  const auto wanted = static_cast<std::size_t>(std::max(0, observed.set.spec.replicas.value_or(1)));
  if (observed.pods.size() <= wanted && observed.orphans.empty()) {
    return observed;  // none will have to go
  }
  for (const runtime::ObjectRef& sibling : siblings(sets_, observed.set.metadata)) {
    for (const WorkloadPod& pod : pods_->of(sibling->uid())) {
      if (pod.active() && !pod.node.empty()) {
        ++observed.pods_on_node[pod.node];
      }
    }
  }
  return observed;
}

DesiredReplicaSet ReplicaSetReconciler::desired(const ObservedReplicaSet& observed,
                                                WallTime now) const {
  return apps::decide(observed, now);
}

Plan ReplicaSetReconciler::diff(const ObservedReplicaSet& observed,
                                const DesiredReplicaSet& desired) const {
  const model::ReplicaSet& set = observed.set;
  const std::string& ns = set.metadata.ns;
  const model::OwnerReference owner = controller_reference(kSets, set.metadata);
  Plan plan;
  // First, because it is also true when a pod is rejected.
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kSets,
                            .key = set.metadata.key(),
                            .body = status_patch(set, *desired.status),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  for (const WorkloadPod& pod : desired.release) {
    plan.actions.push_back(release(kPods, {ns, pod.name}, pod.uid, set.metadata.uid));
  }
  for (const WorkloadPod& pod : desired.adopt) {
    plan.actions.push_back(adopt(kPods, {ns, pod.name}, pod.uid, owner));
  }
  if (desired.create > 0) {
    const std::string body = pod_body(set.spec.pod_template, set.metadata.name + "-", owner);
    plan.actions.insert(plan.actions.end(), desired.create, make_pod(ns, body));
  }
  for (const WorkloadPod& pod : desired.remove) {
    plan.actions.push_back(remove_pod(ns, pod));
  }
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

ReplicaSetReconciler& add_replica_set_controller(runtime::Manager& manager,
                                                 std::shared_ptr<const WorkloadPods> pods) {
  return manager.controller("replicasets")
      .reconciles(kSets)
      .owns(kPods)
      .watches(kPods, who_may_adopt(manager.cache().informer(kSets).store()))
      .workers(kWorkers)
      .with<ReplicaSetReconciler>(std::move(pods));
}

}  // namespace codeflare::controllers::apps
