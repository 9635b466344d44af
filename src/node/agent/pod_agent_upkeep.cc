// The agent's work for running pods, beside starting them.
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "model/codec/pod.h"
#include "node/agent/pod_agent.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

using runtime::ObjectKey;

constexpr Duration kLookAtStorage = std::chrono::seconds(5);
constexpr Duration kRefreshVolumes = std::chrono::seconds(30);

bool is_over(const model::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

}  // namespace

std::map<std::string, ContainerHealth> PodAgent::health_of(const model::Pod& pod,
                                                           const SandboxView* view) {
  if (health_ != nullptr) {
    health_->follow(pod, view,
                    {.address = address_of(pod), .own_network = network_of(pod) != nullptr});
    return health_->view(pod.metadata.uid);
  }
  std::map<std::string, ContainerHealth> all_well;
  for (const RunRecord& run : view == nullptr ? std::vector<RunRecord>() : view->state.runs) {
    if (run.running()) {
      // Hooks that nobody runs have been run.
      all_well.insert_or_assign(
          run.name,
          ContainerHealth{
              .attempt = run.attempt, .started = true, .ready = true, .pre_stop_done = true});
    }
  }
  return all_well;
}

void PodAgent::look_for_room(Known& known, const model::Pod& pod) {
  const model::Quantity* most = options_.allocatable.find("pods");
  if (known.admitted || known.rejected || most == nullptr || is_over(pod) ||
      pod.metadata.deleting()) {
    return;
  }
  std::int64_t used = 0;
  // The number of known pods bounds the number that counts, which is more expensive to find out.
  if (std::cmp_greater(known_.size(), most->value())) {
    for (const auto& [uid, other] : known_) {
      const runtime::ObjectRef object = informer_.store().get(other.key);
      const bool there = other.admitted && object != nullptr && object->uid() == uid;
      const std::string phase = there ? object->string_at({"status", "phase"}) : "Failed";
      used += phase == "Succeeded" || phase == "Failed" ? 0 : 1;
    }
  }
  if (used >= most->value()) {
    known.rejected = StartProblem{
        "OutOfpods",
        "Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: " +
            std::to_string(used) + ", capacity: " + most->to_string()};
    known.events.push_back(
        {.warning = true, .reason = known.rejected->reason, .message = known.rejected->message});
    return;
  }
  known.admitted = true;
}

void PodAgent::look_for_leave(Known& known, const model::Pod& pod) {
  if (!pod.spec.host_network || options_.allow_host_network || options_.network == nullptr ||
      known.rejected || is_over(pod) || pod.metadata.deleting()) {
    return;
  }
  known.rejected = StartProblem{
      "HostNetworkForbidden",
      "Pod was rejected: hostNetwork would give it the ports and sockets of the machine; the node "
      "allows that when it is started with --allow-host-network"};
  known.events.push_back(
      {.warning = true, .reason = known.rejected->reason, .message = known.rejected->message});
}

Task<void> PodAgent::end_health() {
  // Nothing to do until it is over; then what was begun has to end.
  while (co_await sleep_for(std::chrono::hours(24))) {
  }
  if (health_ != nullptr) {
    co_await health_->stop();
  }
}

Task<void> PodAgent::watch_storage() {
  // Each pod by itself: one that takes long keeps only its own next look waiting.
  TaskGroup looks(env_.loop);
  while (co_await sleep_for(kLookAtStorage)) {
    for (auto& [uid, known] : known_) {
      if (!std::exchange(known.looked_at, true)) {
        looks.spawn(look_at_storage(uid, known.key));
      }
    }
  }
  co_await looks.close();
}

Task<void> PodAgent::look_at_storage(std::string uid, ObjectKey key) {
  co_await judge_storage(uid, std::move(key));
  if (const auto known = known_.find(uid); known != known_.end()) {
    known->second.looked_at = false;
  }
}

Task<void> PodAgent::judge_storage(std::string uid, ObjectKey key) {
  const SandboxView* view = pods_.find(uid);
  const runtime::ObjectRef object = informer_.store().get(key);
  if (view == nullptr || !view->alive || object == nullptr || object->uid() != uid) {
    co_return;
  }
  const Result<model::Pod> pod = object->as<model::Pod>();
  if (!pod || is_over(*pod) || pod->metadata.deleting() || pod->spec.node_name != options_.node) {
    co_return;
  }
  const Result<PodUsage> usage = co_await pods_.usage(uid);
  if (!usage) {
    options_.logger.debug("storage of a pod is not known",
                          {{"uid", uid}, {"error", usage.error()}});
    co_return;
  }
  std::optional<StartProblem> problem = eviction_of(pod->spec, *usage, options_.storage_limit);
  const auto known = known_.find(uid);
  if (!problem || known == known_.end() || known->second.evicted) {
    co_return;
  }
  options_.logger.info("pod evicted",
                       {{"pod", key.ns + "/" + key.name}, {"why", problem->message}});
  known->second.events.push_back(
      {.warning = true, .reason = std::string(kEvicted), .message = problem->message});
  known->second.evicted = std::move(problem);
  waker_.wake(key);
}

void PodAgent::note_volumes(const std::string& uid, const std::vector<VolumePlan>& volumes) {
  const auto known = known_.find(uid);
  if (known == known_.end()) {
    return;
  }
  for (const VolumePlan& volume : volumes) {
    known->second.fingerprints.insert_or_assign(volume.name, fingerprint(volume));
  }
  known->second.refresh_at = after(env_.clock.now(), kRefreshVolumes);
}

// Content that has changed since it was written is written again; the wait until the next look.
Task<std::optional<Duration>> PodAgent::refresh_volumes(model::Pod pod) {
  const std::string uid = pod.metadata.uid;
  const SandboxView* view = pods_.find(uid);
  auto known = known_.find(uid);
  const bool follows = std::ranges::any_of(pod.spec.volumes, follows_objects);
  if (!follows || known == known_.end() || view == nullptr || !view->alive || is_over(pod) ||
      pod.metadata.deleting()) {
    co_return std::nullopt;
  }
  const Instant now = env_.clock.now();
  if (now < known->second.refresh_at) {
    co_return known->second.refresh_at - now;
  }
  known->second.refresh_at = after(now, kRefreshVolumes);
  model::Pod asking = pod;
  asking.spec.enable_service_links = false;  // services do not matter for volumes
  const Result<PodInputs> inputs = co_await inputs_of(std::move(asking));
  pod.status.pod_ip = address_of(pod);
  pod.status.host_ip = options_.address;
  Result<std::vector<VolumePlan>> plans =
      inputs ? plan_volumes(pod, *inputs) : fail(inputs.error());
  if (!plans) {
    // Its volumes stay; an object that comes back is seen then.
    options_.logger.debug("volumes of a pod stay as they are",
                          {{"uid", uid}, {"error", plans.error()}});
    co_return kRefreshVolumes;
  }
  known = known_.find(uid);
  if (known == known_.end()) {
    co_return std::nullopt;
  }
  std::vector<VolumePlan> changed;
  for (VolumePlan& plan : *plans) {
    const auto written = known->second.fingerprints.find(plan.name);
    if (plan.kind == VolumePlan::Kind::files &&
        (written == known->second.fingerprints.end() || written->second != fingerprint(plan))) {
      changed.push_back(std::move(plan));
    }
  }
  if (changed.empty()) {
    co_return kRefreshVolumes;
  }
  const Result<void> written = co_await pods_.write_volumes(uid, changed);
  if (written) {
    note_volumes(uid, changed);
  } else {
    options_.logger.warn("volumes of a pod could not be written",
                         {{"uid", uid}, {"error", written.error()}});
  }
  co_return kRefreshVolumes;
}

}  // namespace codeflare::node
