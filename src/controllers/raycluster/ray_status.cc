#include "controllers/raycluster/ray_decision.h"
#include "controllers/raycluster/ray_start.h"
#include "model/condition.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace codeflare::controllers::raycluster {

namespace {

using model::Condition;
using model::RayCluster;
using model::RayClusterStatus;
using model::RayWorkerGroup;

std::int32_t clamped(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

// As metav1.Condition: reason and message are always there.
void put(std::vector<Condition>& conditions, std::string_view type, std::string_view status,
         std::string_view reason, std::string_view message, WallTime now) {
  Condition* known = model::find_condition(conditions, type);
  if (known != nullptr && known->status == status && known->reason == reason &&
      known->message == message) {
    return;
  }
  Condition wanted{.type = std::string(type),
                   .status = std::string(status),
                   .reason = std::string(reason),
                   .message = std::string(message),
                   .last_transition_time = now};
  if (message.empty()) {
    wanted.extra.members.push_back({"message", {R"("")"}});
  }
  if (known == nullptr) {
    conditions.push_back(std::move(wanted));
    return;
  }
  if (known->status == status) {
    wanted.last_transition_time = known->last_transition_time;
  }
  *known = std::move(wanted);
}

const RayPod* find_head(const std::vector<RayPod>& pods) {
  auto found = std::ranges::find(pods, NodeType::head, &RayPod::type);
  return found == pods.end() ? nullptr : &*found;
}

bool all_running(const std::vector<RayPod>& pods) {
  return !pods.empty() && std::ranges::all_of(pods, [](const RayPod& pod) {
    return pod.running() && (pod.ready.empty() || pod.ready == "True");
  });
}

void put_head_condition(const std::vector<RayPod>& pods, RayClusterStatus& status, WallTime now) {
  const RayPod* head = find_head(pods);
  if (head == nullptr) {
    put(status.conditions, "HeadPodReady", "False", "HeadPodNotFound", "Head Pod not found", now);
    return;
  }
  std::string reason = head->ready_reason;
  std::string message = head->ready_message;
  if (reason.empty()) {
    reason = head->ready == "True" ? "HeadPodRunningAndReady" : "Unknown";
  }
  if (reason == "ContainersNotReady" && !head->stuck_reason.empty()) {
    reason = head->stuck_reason;
    message += (message.empty() ? "" : "; ") + head->stuck_message;
  }
  put(status.conditions, "HeadPodReady", head->ready.empty() ? "False" : head->ready, reason,
      message, now);
}

void put_suspension(const Observed& observed, RayClusterStatus& status, WallTime now) {
  constexpr std::string_view kSuspending = "RayClusterSuspending";
  constexpr std::string_view kSuspended = "RayClusterSuspended";
  const bool wanted = observed.cluster.spec.suspend.value_or(false);
  auto& conditions = status.conditions;
  if (model::is_condition_true(conditions, kSuspending)) {
    if (observed.pods.empty()) {
      put(conditions, "RayClusterProvisioned", "False", "RayClusterPodsProvisioning",
          "RayCluster has been suspended", now);
      put(conditions, kSuspending, "False", kSuspending, "", now);
      put(conditions, kSuspended, "True", kSuspended, "", now);
    }
  } else if (model::is_condition_true(conditions, kSuspended)) {
    if (!wanted) {
      put(conditions, kSuspended, "False", kSuspended, "", now);
    }
  } else {
    put(conditions, kSuspended, "False", kSuspended, "", now);
    put(conditions, kSuspending, wanted ? "True" : "False", kSuspending, "", now);
  }
}

void put_conditions(const Observed& observed, RayClusterStatus& status, WallTime now) {
  put_head_condition(observed.pods, status, now);
  // About the first time only: it does not change any more unless the cluster is suspended.
  if (!model::is_condition_true(status.conditions, "RayClusterProvisioned") &&
      !model::is_condition_true(status.conditions, "RayClusterSuspended")) {
    if (all_running(observed.pods)) {
      put(status.conditions, "RayClusterProvisioned", "True", "AllPodRunningAndReadyFirstTime",
          "All Ray Pods are ready for the first time", now);
    } else {
      put(status.conditions, "RayClusterProvisioned", "False", "RayClusterPodsProvisioning",
          "RayCluster Pods are being provisioned for first time", now);
    }
  }
  put_suspension(observed, status, now);
}

void count_workers(const Observed& observed, RayClusterStatus& status) {
  status.ready_worker_replicas = 0;
  status.available_worker_replicas = 0;
  for (const RayPod& pod : observed.pods) {
    if (pod.type == NodeType::worker && pod.running()) {
      ++status.available_worker_replicas;
      status.ready_worker_replicas += pod.ready == "True";
    }
  }
  std::int64_t desired = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  for (const RayWorkerGroup& group : observed.cluster.spec.worker_groups) {
    desired += model::desired_pods(group);
    if (!group.suspend.value_or(false)) {
      const std::int64_t hosts = group.num_of_hosts.value_or(1);
      least += group.min_replicas.value_or(0) * hosts;
      most += group.max_replicas.value_or(std::numeric_limits<std::int32_t>::max()) * hosts;
    }
  }
  status.desired_worker_replicas = clamped(desired);
  status.min_worker_replicas = clamped(least);
  status.max_worker_replicas = clamped(most);
}

// Requests of the containers; a limit where there is no request.
model::ResourceList requests_of(const model::PodSpec& pod) {
  model::ResourceList sum;
  for (const model::Container& container : pod.containers) {
    model::ResourceList amounts = container.resources.requests;
    for (const auto& [name, limit] : container.resources.limits) {
      if (amounts.find(name) == nullptr) {
        amounts.set(name, limit);
      }
    }
    sum += amounts;
  }
  return sum;
}

void sum_resources(const RayCluster& cluster, RayClusterStatus& status) {
  model::ResourceList sum = requests_of(cluster.spec.head_group.pod_template.spec);
  for (const RayWorkerGroup& group : cluster.spec.worker_groups) {
    if (!group.suspend.value_or(false)) {
      sum +=
          requests_of(group.pod_template.spec) *
          (std::int64_t{std::max(group.replicas.value_or(0), 0)} * group.num_of_hosts.value_or(1));
    }
  }
  status.desired_cpu = sum.get("cpu");
  status.desired_memory = sum.get("memory");
  status.desired_tpu = sum.get("google.com/tpu");
  model::Quantity gpus;
  for (const auto& [name, amount] : sum) {
    if (is_gpu(name)) {
      gpus += amount;
    }
  }
  status.desired_gpu = gpus;
}

void look_at_service(const Observed& observed, RayClusterStatus& status) {
  const RayPod* head = find_head(observed.pods);
  status.head.pod_ip = head == nullptr ? "" : head->address;
  status.head.pod_name = head == nullptr ? "" : head->name;
  if (!observed.head_service) {
    return;
  }
  const model::Service& service = *observed.head_service;
  const bool headless = service.spec.cluster_ip == "None";
  status.head.service_name = service.metadata.name;
  status.head.service_ip = headless ? status.head.pod_ip : service.spec.cluster_ip;
  for (const model::ServicePort& port : service.spec.ports) {
    if (port.name.empty()) {
      continue;
    }
    if (port.node_port != 0) {
      status.endpoints[port.name] = std::to_string(port.node_port);
    } else if (port.target_port && port.target_port->is_text) {
      status.endpoints[port.name] = port.target_port->text;
    } else if (port.target_port && port.target_port->number != 0) {
      status.endpoints[port.name] = std::to_string(port.target_port->number);
    }
  }
}

}  // namespace

RayClusterStatus status_of(const Observed& observed, WallTime now) {
  const RayCluster& cluster = observed.cluster;
  RayClusterStatus status = cluster.status;
  status.observed_generation = cluster.metadata.generation;
  count_workers(observed, status);
  sum_resources(cluster, status);
  const auto whole = static_cast<std::size_t>(std::max(status.desired_worker_replicas, 0)) + 1;
  if (observed.pods.size() == whole && all_running(observed.pods)) {
    status.state = "ready";
    status.reason.clear();
  }
  put_conditions(observed, status, now);
  if (cluster.spec.suspend.value_or(false) && observed.pods.empty()) {
    status.state = "suspended";
  }
  look_at_service(observed, status);
  if (status.state != cluster.status.state) {
    status.state_transition_times.insert_or_assign(status.state, now);
  }
  return status;
}

}  // namespace codeflare::controllers::raycluster
