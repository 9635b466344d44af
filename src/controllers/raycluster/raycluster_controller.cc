#include "controllers/raycluster/raycluster_controller.h"

#include "controllers/pods_type.h"
#include "controllers/raycluster/kuberay_present.h"
#include "controllers/raycluster/ray_names.h"
#include "controllers/raycluster/ray_pod.h"
#include "controllers/raycluster/ray_token.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "model/codec/service.h"
#include "model/resources.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using runtime::Action;
using runtime::Plan;

const runtime::ResourceType kClusters = model::resource_type<model::RayCluster>();
const runtime::ResourceType kServices = model::resource_type<model::Service>();
const runtime::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};

constexpr int kWorkers = 16;

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

RayClusterReconciler::RayClusterReconciler(const runtime::ControllerContext& context)
    : StoryReconciler(context.env, context.actor),
      clusters_(context.subject.store()),
      services_(context.cache.informer(kServices).store()),
      pods_(context.cache.informer(kPods)),
      random_(context.env.random) {}

std::optional<Observed> RayClusterReconciler::observe(const runtime::ObjectKey& key) const {
  const runtime::ObjectRef object = stopped_ ? nullptr : clusters_.get(key);
  if (object == nullptr || object->deleting()) {
    return std::nullopt;  // what it owns goes with it
  }
  Result<model::RayCluster> cluster = object->as<model::RayCluster>();
  if (!cluster || cluster->spec.managed_by.value_or(std::string(kManager)) != kManager) {
    return std::nullopt;
  }
  Observed observed{.cluster = *std::move(cluster), .pods = pods_.of(key)};
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
    Action secret =
        create(kSecrets, ns, token_secret(cluster, random_), "token authentication has no Secret");
    secret.together = false;
    secret.existing_is_fine = true;
    plan.actions.push_back(std::move(secret));
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
        create(kPods, ns, model::to_json_text(head_pod(cluster)), "no head exists"));
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

RayClusterReconciler& add_raycluster_controller(runtime::Manager& manager) {
  return manager.controller("rayclusters")
      .reconciles(kClusters)
      .owns(kPods)
      .owns(kServices)
      .workers(kWorkers)
      .with<RayClusterReconciler>();
}

void give_way_to_kuberay(runtime::Manager& manager, std::function<void()> stop, Logger logger) {
  manager.add_work([&client = manager.client(), stop = std::move(stop), logger] {
    return watch_for_kuberay(client, [stop, logger](const std::string& where) {
      logger.warn("RayClusters are handled by the KubeRay operator from now on",
                  {{"found", where}});
      stop();
    });
  });
}

}  // namespace codeflare::controllers::raycluster
