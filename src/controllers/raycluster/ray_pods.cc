#include "controllers/raycluster/ray_pods.h"

#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/meta.h"
#include "model/pod_facts.h"

#include <string_view>

namespace codeflare::controllers::raycluster {

namespace {

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

RayPod ray_pod_of(const model::Pod& pod) {
  const model::PodFacts facts = model::facts_of(pod);
  const model::StringMap& labels = pod.metadata.labels;
  RayPod digest{.name = pod.metadata.name,
                .uid = pod.metadata.uid,
                .owner_uid = std::string(facts.controller_uid()),
                .type = model::find_or_empty(labels, kNodeTypeLabel) == "head" ? NodeType::head
                                                                               : NodeType::worker,
                .group = std::string(model::find_or_empty(labels, kGroupLabel)),
                .phase = pod.status.phase,
                .address = pod.status.pod_ip,
                .deleting = facts.deleting};
  if (const model::Condition* ready = model::find_condition(pod.status.conditions, "Ready")) {
    digest.ready = ready->status;
    digest.ready_reason = ready->reason;
    digest.ready_message = ready->message;
  }
  look_at_containers(pod, digest);
  return digest;
}

std::optional<RayPods::Entry> read_ray_pod(const runtime::ObjectChange& change,
                                           const RayPod* /*before*/) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  if (!pod) {
    return std::nullopt;
  }
  const std::string_view cluster = model::find_or_empty(pod->metadata.labels, kClusterLabel);
  if (cluster.empty()) {
    return std::nullopt;
  }
  return RayPods::Entry{{pod->metadata.ns, std::string(cluster)}, ray_pod_of(*pod)};
}

}  // namespace codeflare::controllers::raycluster
