#include "sdk/cluster_state.h"

#include "json/parse.h"
#include "model/codec/ray_cluster.h"
#include "model/condition.h"
#include "model/pod_requests.h"
#include "queue/pod_trouble.h"
#include "queue/status_words.h"
#include "sdk/device_names.h"
#include "sdk/internal/work_state.h"

#include <algorithm>
#include <utility>

namespace codeflare::sdk {

namespace {

using internal::is_lasting_reason;
using internal::newest;
using model::AppWrapper;
using model::AppWrapperCondition;

ClusterState because(ClusterPhase phase, const AppWrapperCondition* condition) {
  ClusterState state{.phase = phase};
  if (condition != nullptr) {
    state.reason = condition->reason;
    state.message = condition->message;
  }
  return state;
}

// The state as long as the AppWrapper decides it; nothing once its objects run.
std::optional<ClusterState> wrapper_state(const AppWrapper& wrapper) {
  const model::AppWrapperStatus& status = wrapper.status;
  if (wrapper.metadata.deleting()) {
    return ClusterState{.phase = ClusterPhase::deleting, .message = status.message};
  }
  if (status.state == model::app_wrapper_state::kFailed) {
    return because(ClusterPhase::failed, newest(wrapper, "Failed"));
  }
  if (status.state == model::app_wrapper_state::kDeleted) {
    return because(ClusterPhase::failed, newest(wrapper, "Queued"));
  }
  if (status.state == model::app_wrapper_state::kCompleted) {
    return ClusterState{.phase = ClusterPhase::completed};
  }
  if (status.plan && !status.can_run) {  // being stopped, to wait again
    return because(ClusterPhase::queued, newest(wrapper, "PreemptCandidate"));
  }
  if (status.plan || status.can_run) {
    return std::nullopt;
  }
  if (wrapper.spec.suspend.value_or(false)) {
    return ClusterState{.phase = ClusterPhase::held,
                        .reason = std::string(queue::word(queue::Reason::held))};
  }
  const AppWrapperCondition* queued = newest(wrapper, "Queued");
  ClusterState state =
      because(ClusterPhase::queued, queued != nullptr ? queued : newest(wrapper, "Backoff"));
  state.stuck = is_lasting_reason(state.reason);
  return state;
}

// "head ready, 1 of 2 workers ready"
std::string stage(const ClusterState& state) {
  std::string text = state.head_ready ? "head ready" : "head starting";
  if (state.workers_wanted > 0) {
    text += ", " + std::to_string(state.workers_ready) + " of " +
            std::to_string(state.workers_wanted) + " workers ready";
  }
  return text;
}

void count_pods(const ClusterObjects& objects, ClusterState& state) {
  const model::RayCluster& ray = *objects.ray;
  for (const model::RayWorkerGroup& group : ray.spec.worker_groups) {
    state.workers_wanted += std::max<std::int64_t>(0, model::desired_pods(group));
  }
  for (const model::Pod& pod : objects.pods) {
    if (!model::is_condition_true(pod.status.conditions, "Ready")) {
      continue;
    }
    if (model::find_or_empty(pod.metadata.labels, "ray.io/node-type") == "head") {
      state.head_ready = true;
    } else {
      ++state.workers_ready;
    }
  }
  // Without a look at the pods, the cluster's own word.
  if (objects.pods.empty()) {
    state.head_ready = model::is_condition_true(ray.status.conditions, "HeadPodReady");
    state.workers_ready = ray.status.ready_worker_replicas;
  }
}

ClusterState ray_state(const ClusterObjects& objects) {
  const model::RayCluster& ray = *objects.ray;
  ClusterState state{.phase = ClusterPhase::starting};
  count_pods(objects, state);
  if (ray.metadata.deleting()) {
    state.phase = ClusterPhase::deleting;
  } else if (ray.status.state == "suspended" || ray.spec.suspend.value_or(false)) {
    state.phase = ClusterPhase::suspended;
  } else if (ray.status.state == "failed") {
    state.phase = ClusterPhase::failed;
    state.message = ray.status.reason;
  } else if (ray.status.state == "ready") {
    state.phase = ClusterPhase::ready;
    if (state.workers_ready < state.workers_wanted) {
      state.message = stage(state);
    }
  } else if (const std::optional<queue::PodTrouble> trouble = queue::worst_trouble(objects.pods)) {
    state.reason = trouble->reason;
    state.message = trouble->text();
    state.stuck = trouble->lasting;
  } else {
    state.message = stage(state);
  }
  return state;
}

}  // namespace

std::string_view to_string(ClusterPhase phase) {
  switch (phase) {
    case ClusterPhase::held:
      return "Held";
    case ClusterPhase::queued:
      return "Queued";
    case ClusterPhase::starting:
      return "Starting";
    case ClusterPhase::ready:
      return "Ready";
    case ClusterPhase::suspended:
      return "Suspended";
    case ClusterPhase::completed:
      return "Completed";
    case ClusterPhase::failed:
      return "Failed";
    case ClusterPhase::deleting:
      return "Deleting";
  }
  return "";
}

ClusterState state_of(const ClusterObjects& objects) {
  if (objects.wrapper) {
    if (std::optional<ClusterState> state = wrapper_state(*objects.wrapper)) {
      return *std::move(state);
    }
    if (!objects.ray) {
      return {.phase = ClusterPhase::starting, .message = "RayCluster not created yet"};
    }
  }
  return objects.ray ? ray_state(objects) : ClusterState{.phase = ClusterPhase::deleting};
}

std::string progress_line(const ClusterState& state) {
  std::string text(to_string(state.phase));
  if (!state.reason.empty() && state.reason != text && !state.message.contains(state.reason)) {
    text += ": " + state.reason;
  }
  return state.message.empty() ? text : text + ": " + state.message;
}

model::Quantity ClusterSizes::gpus() const {
  model::Quantity sum;
  for (const auto& [name, amount] : requests) {
    if (ray_name_of(name, {}) == kRayGpu) {
      sum += amount;
    }
  }
  return sum;
}

ClusterSizes sizes_of(const model::RayClusterSpec& spec) {
  ClusterSizes sizes;
  sizes.requests = model::pod_requests(spec.head_group.pod_template.spec);
  if (const auto& containers = spec.head_group.pod_template.spec.containers; !containers.empty()) {
    sizes.image = containers.front().image;
  }
  for (const model::RayWorkerGroup& group : spec.worker_groups) {
    const std::int64_t pods = std::max<std::int64_t>(0, model::desired_pods(group));
    model::ResourceList requests = model::pod_requests(group.pod_template.spec);
    requests *= pods;
    sizes.requests += requests;
    sizes.workers += pods;
  }
  return sizes;
}

std::optional<model::RayCluster> wrapped_cluster(const model::AppWrapper& wrapper) {
  for (const model::GenericItem& item : wrapper.spec.resources.generic_items) {
    const Result<json::Document> document = json::parse(item.generic_template.text);
    if (!document || document->root.string_or_empty("kind") != "RayCluster") {
      continue;
    }
    if (Result<model::RayCluster> ray = model::from_json<model::RayCluster>(document->root)) {
      return *std::move(ray);
    }
  }
  return std::nullopt;
}

}  // namespace codeflare::sdk
