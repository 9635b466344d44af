#include "controllers/raycluster/raycluster_controller.h"

#include "controllers/pods_type.h"
#include "controllers/raycluster/ray_autoscaler.h"
#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_pod.h"
#include "controllers/raycluster/ray_token.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kClusters = model::resource_type<model::RayCluster>();
const runtime::ResourceType kServices = model::resource_type<model::Service>();
const runtime::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};

constexpr int kWorkers = 16;

// For so long after an operator came, what was under way here may have made a second head.
constexpr Duration kHandOver = std::chrono::minutes(1);

constexpr std::string_view kNoHead = "no head exists";

Action create(const runtime::ResourceType& type, const std::string& ns, std::string body,
              std::string why) {
  return {.verb = Action::Verb::create,
          .type = type,
          .key = {ns, ""},
          .body = std::move(body),
          .why = std::move(why),
          .together = true};
}

}  // namespace

Task<Result<void>> FirstPodGuard::ready(runtime::ObjectKey key) {
  return actor_.ready(std::move(key));
}

Task<Result<void>> FirstPodGuard::act(runtime::ObjectKey key, Plan plan) {
  const auto head = std::ranges::find_if(plan.actions, [](const Action& action) {
    return action.verb == Action::Verb::create && action.why == kNoHead;
  });
  if (head == plan.actions.end() || kuberay_ == nullptr) {
    co_return co_await actor_.act(std::move(key), std::move(plan));
  }
  // Account and token come first: nothing may lie between the look and the head.
  auto first = head;
  while (first != plan.actions.begin() && std::prev(first)->together) {
    --first;
  }
  Plan before;
  before.actions.assign(std::move_iterator(plan.actions.begin()), std::move_iterator(first));
  plan.actions.erase(plan.actions.begin(), first);
  CO_TRY(co_await actor_.act(key, std::move(before)));
  CO_TRY_ASSIGN(const bool ours, co_await kuberay_->still_ours());
  if (!ours) {
    co_return Result<void>();
  }
  co_return co_await actor_.act(std::move(key), std::move(plan));
}

RayClusterReconciler::RayClusterReconciler(const runtime::ControllerContext& context,
                                           std::shared_ptr<KubeRayWatch> kuberay)
    : FirstPodGuardHolder{FirstPodGuard(context.actor, kuberay)},
      StoryReconciler(context.env, guard),
      kuberay_(std::move(kuberay)),
      env_(context.env),
      clusters_(context.subject.store()),
      services_(context.cache.informer(kServices).store()),
      pods_(context.cache.informer(kPods), read_ray_pod),
      waker_(context.waker) {
  if (kuberay_ != nullptr) {
    kuberay_->on_change([this] { wake_all(); });
  }
}

void RayClusterReconciler::wake_all() const {
  for (const runtime::ObjectRef& object : clusters_.list()) {
    waker_.wake(object->key());
  }
}

std::optional<Observed> RayClusterReconciler::observe(const runtime::ObjectKey& key) const {
  const bool handed_over = kuberay_ != nullptr && kuberay_->where();
  if (handed_over && env_.loop.now() - kuberay_->came_at().value_or(Instant()) > kHandOver) {
    return std::nullopt;
  }
  const runtime::ObjectRef object = clusters_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;  // what it owns goes with it
  }
  Result<model::RayCluster> cluster = object->as<model::RayCluster>();
  if (!cluster || cluster->spec.managed_by.value_or(std::string(kManager)) != kManager) {
    return std::nullopt;
  }
  Observed observed{
      .cluster = *std::move(cluster), .pods = pods_.of(key), .handed_over = handed_over};
  const std::string& uid = observed.cluster.metadata.uid;
  std::erase_if(observed.pods, [&](const RayPod& pod) { return pod.owner_uid != uid; });
  const runtime::ObjectRef service = services_.get(key.ns, head_service_name(observed.cluster));
  if (service != nullptr && !service->deleting()) {
    Result<model::Service> head = service->as<model::Service>();
    if (head) {
      observed.head_service = *std::move(head);
    }
  }
  return observed;
}

Desired RayClusterReconciler::desired(const Observed& observed, WallTime now) const {
  return raycluster::decide(observed, now);
}

Plan RayClusterReconciler::diff(const Observed& observed, const Desired& desired) const {
  Plan plan;
  const model::RayCluster& cluster = observed.cluster;
  const std::string& ns = cluster.metadata.ns;
  if (desired.create_service) {
    plan.actions.push_back(
        create(kServices, ns, model::to_json_text(head_service(cluster)), "head has no service"));
  }
  if (desired.create_token) {
    Action secret = create(kSecrets, ns, token_secret(cluster, env_.random),
                           "token authentication has no Secret");
    secret.together = false;
    secret.existing_is_fine = true;
    plan.actions.push_back(std::move(secret));
  }
  for (AutoscalerObject& object :
       desired.create_autoscaler ? autoscaler_objects(cluster) : std::vector<AutoscalerObject>()) {
    Action action = create(object.type, ns, std::move(object.body), "the autoscaler needs it");
    action.existing_is_fine = true;
    action.together = false;  // a binding needs its role, the head its account
    plan.actions.push_back(std::move(action));
  }
  for (const Removal& removal : desired.remove) {
    plan.actions.push_back({.verb = Action::Verb::remove,
                            .type = kPods,
                            .key = {ns, removal.pod.name},
                            .why = removal.why,
                            .together = true,
                            .removal = {.uid = removal.pod.uid}});
  }
  if (desired.create_head) {
    plan.actions.push_back(
        create(kPods, ns, model::to_json_text(head_pod(cluster)), std::string(kNoHead)));
  }
  for (std::size_t i = 0; i < desired.create_workers.size(); ++i) {
    if (desired.create_workers[i] == 0) {
      continue;
    }
    const std::string body =
        model::to_json_text(worker_pod(cluster, cluster.spec.worker_groups[i]));
    for (std::size_t n = 0; n < desired.create_workers[i]; ++n) {
      plan.actions.push_back(create(kPods, ns, body, "worker group has too few workers"));
    }
  }
  if (desired.status) {
    model::RayCluster changed = cluster;
    changed.status = *desired.status;
    plan.actions.push_back({.verb = Action::Verb::update,
                            .type = kClusters,
                            .key = cluster.metadata.key(),
                            .body = model::to_json_text(changed),
                            .why = "status is out of date",
                            .write = {.subresource = "status"}});
  }
  plan.events = desired.events;
  return plan;
}

RayClusterReconciler& add_raycluster_controller(runtime::Manager& manager,
                                                std::shared_ptr<KubeRayWatch> kuberay) {
  return manager.controller("rayclusters")
      .reconciles(kClusters)
      .owns(kPods)
      .owns(kServices)
      .workers(kWorkers)
      .with<RayClusterReconciler>(std::move(kuberay));
}

}  // namespace codeflare::controllers::raycluster
