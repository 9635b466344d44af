#include "controllers/apps/stateful_set_controller.h"

#include "controllers/apps/claim.h"
#include "controllers/apps/owners.h"
#include "controllers/pods_type.h"
#include "controllers/status_patch.h"
#include "model/codec/apps.h"
#include "model/codec/core.h"
#include "model/codec/pod.h"
#include "model/resources.h"

#include <utility>

namespace codeflare::controllers::apps {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kSets = model::resource_type<model::StatefulSet>();
const runtime::ResourceType kClaims = model::resource_type<model::PersistentVolumeClaim>();

constexpr int kWorkers = 8;

Action create(const runtime::ResourceType& type, const std::string& ns, std::string body,
              std::string why, bool together = false) {
  return {.verb = Action::Verb::create,
          .type = type,
          .key = {ns, ""},
          .body = std::move(body),
          .why = std::move(why),
          .together = together};
}

void write_revisions(const model::StatefulSet& set, const DesiredStatefulSet& desired, Plan& plan) {
  const std::string& ns = set.metadata.ns;
  if (desired.create_revision) {
    plan.actions.push_back(create(revision_type(), ns,
                                  revision_body(*desired.create_revision, set.metadata.name,
                                                controller_reference(kSets, set.metadata)),
                                  "new template"));
  }
  if (desired.renumber) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = revision_type(),
                            .key = {ns, desired.renumber->name},
                            .body = R"({"revision":)" + std::to_string(desired.renumber->number) +
                                    R"(,"metadata":{"uid":")" + desired.renumber->uid + R"("}})",
                            .why = "template went back to an earlier one"});
  }
  for (const SetRevision& revision : desired.forget) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = revision_type(),
                            .key = {ns, revision.name},
                            .why = "history exceeds its limit",
                            .removal = {.uid = revision.uid}});
  }
}

}  // namespace

StatefulSetReconciler::StatefulSetReconciler(const runtime::ControllerContext& context,
                                             std::shared_ptr<const WorkloadPods> pods)
    : StoryReconciler(context.env, context.actor),
      sets_(context.subject.store()),
      revisions_(context.cache.informer(revision_type()).store()),
      claims_(context.cache.informer(kClaims).store()),
      pods_(std::move(pods)) {}

std::optional<ObservedStatefulSet> StatefulSetReconciler::observe(
    const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = sets_.get(key);
  if (object == nullptr) {
    return std::nullopt;  // what it controlled is the garbage collector's
  }
  Result<model::StatefulSet> set = object->as<model::StatefulSet>();
  if (!set) {
    return std::nullopt;  // the server does not let such a set in
  }
  ObservedStatefulSet observed{.set = *std::move(set),
                               .pods = pods_->of(object->uid()),
                               .orphans = pods_->orphans(key.ns),
                               .revisions = {},
                               .claims = {}};
  for (const runtime::ObjectRef& revision : controlled(revisions_, key.ns, object->uid())) {
    if (std::optional<SetRevision> read = revision_of(*revision)) {
      observed.revisions.push_back(*std::move(read));
    }
  }
  if (!observed.set.spec.volume_claim_templates.empty()) {
    for (const runtime::ObjectRef& claim : claims_.list(key.ns)) {
      observed.claims.emplace(claim->name());
    }
  }
  return observed;
}

DesiredStatefulSet StatefulSetReconciler::desired(const ObservedStatefulSet& observed,
                                                  WallTime now) const {
  return apps::decide(observed, now);
}

Plan StatefulSetReconciler::diff(const ObservedStatefulSet& observed,
                                 const DesiredStatefulSet& desired) const {
  const model::StatefulSet& set = observed.set;
  const std::string& ns = set.metadata.ns;
  Plan plan;
  for (const WorkloadPod& pod : desired.release) {
    plan.actions.push_back(release(kPods, {ns, pod.name}, pod.uid, set.metadata.uid));
  }
  for (const WorkloadPod& pod : desired.adopt) {
    plan.actions.push_back(
        adopt(kPods, {ns, pod.name}, pod.uid, controller_reference(kSets, set.metadata)));
  }
  write_revisions(set, desired, plan);
  // Before the pods, because it is also true when one is rejected.
  if (desired.status) {
    plan.actions.push_back({.verb = Action::Verb::patch,
                            .type = kSets,
                            .key = set.metadata.key(),
                            .body = status_patch(set, *desired.status),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  for (const model::PersistentVolumeClaim& claim : desired.create_claims) {
    plan.actions.push_back(
        create(kClaims, ns, model::to_json_text(claim), "a pod of the set mounts it"));
  }
  for (const model::Pod& pod : desired.create) {
    plan.actions.push_back(create(kPods, ns, model::to_json_text(pod), "ordinal has no pod", true));
  }
  for (const WorkloadPod& pod : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {ns, pod.name},
                            .why = "pod is surplus, finished, or of another revision",
                            .together = true,
                            .removal = {.uid = pod.uid}});
  }
  if (desired.look_again) {
    plan.next = runtime::Next::after(*desired.look_again);
  }
  return plan;
}

StatefulSetReconciler& add_stateful_set_controller(runtime::Manager& manager,
                                                   std::shared_ptr<const WorkloadPods> pods) {
  return manager.controller("statefulsets")
      .reconciles(kSets)
      .owns(kPods)
      .owns(revision_type())
      .watches(kPods, who_may_adopt(manager.cache().informer(kSets).store()))
      .workers(kWorkers)
      .with<StatefulSetReconciler>(std::move(pods));
}

}  // namespace codeflare::controllers::apps
