#include "controllers/apps/workload_pods.h"

#include "model/codec/pod.h"
#include "model/pod_facts.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace codeflare::controllers::apps {

namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

std::int32_t deletion_cost(const model::StringMap& annotations) {
  const std::string_view text = model::find_or_empty(annotations, kDeletionCost);
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size() ? cost : 0;
}

std::int32_t restarts(const model::PodStatus& status) {
  std::int32_t most = 0;
  for (const model::ContainerStatus& container : status.container_statuses) {
    most = std::max(most, container.restart_count);
  }
  return most;
}

using Pods = runtime::Index<std::string, WorkloadPod>;

std::optional<Pods::Entry> read(const runtime::ObjectChange& change,
                                const WorkloadPod* /*before*/) {
  const Result<model::Pod>& pod = change.as<model::Pod>();
  if (!pod) {
    return std::nullopt;
  }
  const model::OwnerReference* owner = model::controller_of(pod->metadata);
  if (owner != nullptr && !owner->api_version.starts_with("apps/")) {
    return std::nullopt;
  }
  return Pods::Entry{owner == nullptr ? "/" + pod->metadata.ns : owner->uid, workload_pod_of(*pod)};
}

}  // namespace

bool WorkloadPod::available(std::int32_t min_ready_seconds, WallTime now) const {
  return ready && active() && ready_since + std::chrono::seconds(min_ready_seconds) <= now;
}

WorkloadPod workload_pod_of(const model::Pod& pod) {
  const model::PodFacts facts = model::facts_of(pod);
  return {.name = pod.metadata.name,
          .uid = pod.metadata.uid,
          .owner_uid = std::string(facts.controller_uid()),
          .labels = pod.metadata.labels,
          .node = pod.spec.node_name,
          .running = facts.phase == model::PodPhase::running,
          .over = facts.over(),
          .failed = facts.phase == model::PodPhase::failed,
          .deleting = facts.deleting,
          .ready = facts.ready,
          .ready_since = facts.ready_since,
          .created = facts.created,
          .restarts = restarts(pod.status),
          .deletion_cost = deletion_cost(pod.metadata.annotations)};
}

WorkloadPods::WorkloadPods(runtime::Informer& pods) : pods_(pods, read) {}

std::vector<WorkloadPod> WorkloadPods::of(std::string_view owner_uid) const {
  return pods_.of(std::string(owner_uid));
}

std::vector<WorkloadPod> WorkloadPods::orphans(std::string_view ns) const {
  return pods_.of("/" + std::string(ns));
}

Duration until_next_available(const std::vector<WorkloadPod>& pods, std::int32_t min_ready_seconds,
                              WallTime now) {
  Duration soonest{0};
  for (const WorkloadPod& pod : pods) {
    if (!pod.ready || !pod.active() || pod.available(min_ready_seconds, now)) {
      continue;
    }
    const Duration left = pod.ready_since + std::chrono::seconds(min_ready_seconds) - now;
    soonest = soonest == Duration(0) ? left : std::min(soonest, left);
  }
  return soonest;
}

}  // namespace codeflare::controllers::apps
