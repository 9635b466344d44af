#include "controllers/apps/workload_pods.h"

#include "controllers/apps/owners.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/pod.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace codeflare::controllers::apps {

namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

std::int32_t deletion_cost(const model::StringMap& annotations) {
  const std::string_view text = model::find_or_empty(annotations, kDeletionCost);
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size() ? cost : 0;
}

// Somebody controls it who is no workload.
bool belongs_to_others(const kube::Object& pod) {
  const Controller controller = controller_of(pod);
  return !controller.uid.empty() && !controller.api_version.starts_with("apps/");
}

std::int32_t restarts(const model::PodStatus& status) {
  std::int32_t most = 0;
  for (const model::ContainerStatus& container : status.container_statuses) {
    most = std::max(most, container.restart_count);
  }
  return most;
}

}  // namespace

bool WorkloadPod::available(std::int32_t min_ready_seconds, WallTime now) const {
  return ready && active() && ready_since + std::chrono::seconds(min_ready_seconds) <= now;
}

WorkloadPod workload_pod_of(const kube::Object& object) {
  WorkloadPod digest{.name = std::string(object.name()), .uid = std::string(object.uid())};
  const Result<model::Pod> pod = object.as<model::Pod>();
  if (!pod) {
    return digest;
  }
  if (const model::OwnerReference* owner = model::controller_of(pod->metadata)) {
    digest.owner_uid = owner->uid;
  }
  digest.labels = pod->metadata.labels;
  digest.node = pod->spec.node_name;
  digest.running = pod->status.phase == "Running";
  digest.failed = pod->status.phase == "Failed";
  digest.over = digest.failed || pod->status.phase == "Succeeded";
  digest.deleting = pod->metadata.deleting();
  if (const model::Condition* ready = model::find_condition(pod->status.conditions, "Ready")) {
    digest.ready = ready->status == "True";
    digest.ready_since = ready->last_transition_time.value_or(WallTime());
  }
  digest.created = pod->metadata.creation_timestamp.value_or(WallTime());
  digest.restarts = restarts(pod->status);
  digest.deletion_cost = deletion_cost(pod->metadata.annotations);
  return digest;
}

WorkloadPods::WorkloadPods(runtime::Informer& pods) {
  pods.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

std::vector<WorkloadPod> WorkloadPods::of(std::string_view owner_uid) const {
  return bucket_of(std::string(owner_uid));
}

std::vector<WorkloadPod> WorkloadPods::orphans(std::string_view ns) const {
  return bucket_of("/" + std::string(ns));
}

std::string WorkloadPods::bucket(std::string_view ns, const WorkloadPod& pod) {
  return pod.owner_uid.empty() ? "/" + std::string(ns) : pod.owner_uid;
}

std::vector<WorkloadPod> WorkloadPods::bucket_of(const std::string& name) const {
  std::vector<WorkloadPod> pods;
  if (auto found = buckets_.find(name); found != buckets_.end()) {
    pods.reserve(found->second.size());
    for (const auto& [key, pod] : found->second) {
      pods.push_back(pod);
    }
  }
  return pods;
}

void WorkloadPods::change(const runtime::ObjectChange& change) {
  const model::ObjectKey key = (change.now ? change.now : change.old)->key();
  std::optional<WorkloadPod> pod;
  std::string to;
  if (change.now != nullptr && !belongs_to_others(*change.now)) {
    pod = workload_pod_of(*change.now);
    to = bucket(key.ns, *pod);
  }
  if (auto known = bucket_of_pod_.find(key); known != bucket_of_pod_.end() && known->second != to) {
    auto from = buckets_.find(known->second);
    from->second.erase(key.name);
    if (from->second.empty()) {
      buckets_.erase(from);
    }
    bucket_of_pod_.erase(known);
  }
  if (pod) {
    buckets_[to].insert_or_assign(key.name, *std::move(pod));
    bucket_of_pod_.insert_or_assign(key, std::move(to));
  }
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
