#include "controllers/raycluster/ray_pods.h"

#include "json/parse.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/meta.h"

#include <algorithm>
#include <string_view>

namespace codeflare::controllers::raycluster {

namespace {

// Cheap, because every pod of the cluster passes here.
std::string cluster_of(const kube::Object& pod) {
  if (!pod.labels_json().contains(kClusterLabel)) {
    return {};
  }
  const auto labels = json::parse_in_place(pod.labels_json());
  return labels ? std::string(labels->root.string_or_empty(kClusterLabel)) : std::string();
}

void look_at_containers(const model::Pod& pod, RayPod& digest) {
  const std::string ray = pod.spec.containers.empty() ? "" : pod.spec.containers.front().name;
  for (const model::ContainerStatus& status : pod.status.container_statuses) {
    if (status.name == ray && status.state.terminated && pod.spec.restart_policy == "Never") {
      digest.ray_ended = true;
    }
    if (!digest.stuck_reason.empty()) {
      continue;
    }
    if (status.state.waiting) {
      digest.stuck_reason = status.state.waiting->reason;
      digest.stuck_message = status.name + ": " + status.state.waiting->message;
    } else if (status.state.terminated) {
      digest.stuck_reason = status.state.terminated->reason;
      digest.stuck_message = status.name + ": " + status.state.terminated->message;
    }
  }
}

}  // namespace

RayPod ray_pod_of(const kube::Object& object) {
  RayPod digest{.name = std::string(object.name()), .uid = std::string(object.uid())};
  const Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod) {
    return digest;
  }
  if (const model::OwnerReference* owner = model::controller_of(pod->metadata)) {
    digest.owner_uid = owner->uid;
  }
  const model::StringMap& labels = pod->metadata.labels;
  digest.type =
      model::find_or_empty(labels, kNodeTypeLabel) == "head" ? NodeType::head : NodeType::worker;
  digest.group = model::find_or_empty(labels, kGroupLabel);
  digest.phase = pod->status.phase;
  digest.address = pod->status.pod_ip;
  digest.deleting = pod->metadata.deleting();
  if (const model::Condition* ready = model::find_condition(pod->status.conditions, "Ready")) {
    digest.ready = ready->status;
    digest.ready_reason = ready->reason;
    digest.ready_message = ready->message;
  }
  look_at_containers(*pod, digest);
  return digest;
}

RayPods::RayPods(runtime::Informer& pods) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<RayPod> RayPods::of(const model::ObjectKey& cluster) const {
  std::vector<RayPod> pods;
  if (auto found = by_cluster_.find(cluster); found != by_cluster_.end()) {
    for (const auto& [name, pod] : found->second) {
      pods.push_back(pod);
    }
  }
  return pods;
}

void RayPods::change(const runtime::ObjectChange& change) {
  if (change.old != nullptr) {
    const std::string before = cluster_of(*change.old);
    auto found = by_cluster_.find({std::string(change.old->ns()), before});
    if (!before.empty() && found != by_cluster_.end()) {
      found->second.erase(std::string(change.old->name()));
      if (found->second.empty()) {
        by_cluster_.erase(found);
      }
    }
  }
  if (change.now != nullptr) {
    std::string cluster = cluster_of(*change.now);
    if (!cluster.empty()) {
      by_cluster_[{std::string(change.now->ns()), std::move(cluster)}].insert_or_assign(
          std::string(change.now->name()), ray_pod_of(*change.now));
    }
  }
}

}  // namespace codeflare::controllers::raycluster
