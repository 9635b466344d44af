#include "controllers/apps/deployment_controller.h"

#include "controllers/apps/claim.h"
#include "controllers/apps/owners.h"
#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "json/write.h"
#include "model/codec/apps.h"
#include "model/pod.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kDeployments = model::resource_type<model::Deployment>();
const runtime::ResourceType kSets = model::resource_type<model::ReplicaSet>();

constexpr int kWorkers = 8;

std::string revision_patch(const model::Deployment& deployment, const std::string& revision) {
  std::string body;
  json::Writer w(body);
  w.begin_object().key("metadata").begin_object().member("uid", deployment.metadata.uid);
  w.key("annotations").begin_object().member(kRevision, revision).end_object();
  w.end_object().end_object();
  return body;
}

// From a pod to the Deployment behind its ReplicaSet.
runtime::MapFunction deployment_of_pod(const runtime::Store& sets) {
  return [&sets, to_set = runtime::to_controller(kSets),
          to_deployment = runtime::to_controller(kDeployments)](
             const kube::Object& pod, std::vector<model::ObjectKey>& keys) {
    std::vector<model::ObjectKey> owners;
    to_set(pod, owners);
    for (const model::ObjectKey& owner : owners) {
      if (const runtime::ObjectRef set = sets.get(owner)) {
        to_deployment(*set, keys);
      }
    }
  };
}

bool pod_is_gone(const runtime::ObjectChange& change) {
  return change.now == nullptr;
}

}  // namespace

DeploymentReconciler::DeploymentReconciler(const runtime::ControllerContext& context,
                                           std::shared_ptr<const WorkloadPods> pods)
    : StoryReconciler(context.env, context.actor),
      deployments_(context.subject.store()),
      sets_(context.cache.informer(kSets).store()),
      pods_(std::move(pods)) {}

std::optional<ObservedDeployment> DeploymentReconciler::observe(
    const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = deployments_.get(key);
  if (object == nullptr) {
    return std::nullopt;  // what it controlled is the garbage collector's
  }
  Result<model::Deployment> deployment = object->as<model::Deployment>();
  if (!deployment) {
    return std::nullopt;  // the server does not let such a Deployment in
  }
  ObservedDeployment observed{.deployment = *std::move(deployment),
                              .sets = {},
                              .orphans = {},
                              .with_pods = {},
                              .taken = {}};
  for (const runtime::ObjectRef& candidate : sets_.list(key.ns)) {
    const std::string controller = controller_uid(*candidate);
    const bool ours = controller == object->uid();
    if (!ours) {
      observed.taken.emplace(candidate->name());
    }
    if (!ours && !controller.empty()) {
      continue;
    }
    Result<model::ReplicaSet> set = candidate->as<model::ReplicaSet>();
    if (!set) {
      continue;
    }
    if (ours && std::ranges::any_of(pods_->of(candidate->uid()),
                                    [](const WorkloadPod& pod) { return !pod.over; })) {
      observed.with_pods.emplace(candidate->uid());
    }
    (ours ? observed.sets : observed.orphans).push_back(*std::move(set));
  }
  return observed;
}

DesiredDeployment DeploymentReconciler::desired(const ObservedDeployment& observed,
                                                WallTime now) const {
  return apps::decide(observed, now);
}

Plan DeploymentReconciler::diff(const ObservedDeployment& observed,
                                const DesiredDeployment& desired) const {
  const model::Deployment& deployment = observed.deployment;
  const model::OwnerReference owner = controller_reference(kDeployments, deployment.metadata);
  Plan plan;
  for (const model::ReplicaSet& set : desired.release) {
    plan.actions.push_back(
        release(kSets, set.metadata.key(), set.metadata.uid, deployment.metadata.uid));
  }
  for (const model::ReplicaSet& set : desired.adopt) {
    plan.actions.push_back(adopt(kSets, set.metadata.key(), set.metadata.uid, owner));
  }
  for (const model::ReplicaSet& set : desired.update) {
    plan.actions.push_back({.verb = Action::Verb::update,
                            .type = kSets,
                            .key = set.metadata.key(),
                            .body = model::to_json_text(set),
                            .why = "rollout continues"});
  }
  if (desired.create) {
    model::ReplicaSet set = *desired.create;
    set.metadata.owner_references.push_back(owner);
    plan.actions.push_back({.verb = Action::Verb::create,
                            .type = kSets,
                            .key = {set.metadata.ns, ""},
                            .body = model::to_json_text(set),
                            .why = "no replica set has the template"});
  }
  for (const model::ReplicaSet& set : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kSets,
                            .key = set.metadata.key(),
                            .why = "history exceeds its limit",
                            .removal = {.uid = set.metadata.uid}});
  }
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kDeployments,
                            .key = deployment.metadata.key(),
                            .body = status_patch(deployment, *desired.status),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  // Last: the status is only written on the version that was looked at. With the status, because an
  // annotation that is written otherwise makes a new generation.
  if (desired.revision) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kDeployments,
                            .key = deployment.metadata.key(),
                            .body = revision_patch(deployment, *desired.revision),
                            .why = "revision changed",
                            .write = {.subresource = "status"}});
  }
  plan.events = desired.events;
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

DeploymentReconciler& add_deployment_controller(runtime::Manager& manager,
                                                std::shared_ptr<const WorkloadPods> pods) {
  runtime::Cache& cache = manager.cache();
  return manager.controller("deployments")
      .reconciles(kDeployments)
      .owns(kSets)
      .watches(kSets, who_may_adopt(cache.informer(kDeployments).store()))
      .watches(kPods, deployment_of_pod(cache.informer(kSets).store()), pod_is_gone)
      .workers(kWorkers)
      .with<DeploymentReconciler>(std::move(pods));
}

}  // namespace codeflare::controllers::apps
