#pragma once

#include "model/condition.h"
#include "model/container.h"
#include "model/extra.h"
#include "model/list.h"
#include "model/meta.h"
#include "model/pod.h"
#include "model/quantity.h"
#include "model/resources.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// RayCluster (ray.io/v1, v1alpha1 alike) as KubeRay defines it: what we act on is typed, the rest
// stays in `extra`.
namespace codeflare::model {

struct RayHeadGroup {
  PodTemplateSpec pod_template;
  RawJson head_service;
  std::optional<bool> enable_ingress;
  StringMap resources;         // for `ray start`, not for the pod
  StringMap labels;            // of the Ray node, and of the pod
  StringMap ray_start_params;  // "dashboard-host": "0.0.0.0"
  std::string service_type;    // of the head service; "ClusterIP" when empty
  Extra extra;

  friend bool operator==(const RayHeadGroup&, const RayHeadGroup&) = default;
};

struct RayScaleStrategy {
  List<std::string> workers_to_delete;
  Extra extra;

  friend bool operator==(const RayScaleStrategy&, const RayScaleStrategy&) = default;
};

struct RayWorkerGroup {
  std::optional<bool> suspend;  // no pods at all
  std::string group_name;
  std::optional<std::int32_t> replicas;      // 0 by KubeRay's CRD
  std::optional<std::int32_t> min_replicas;  // 0
  std::optional<std::int32_t> max_replicas;  // 2147483647
  std::optional<std::int32_t> idle_timeout_seconds;
  StringMap resources;
  StringMap labels;
  StringMap ray_start_params;
  PodTemplateSpec pod_template;
  RayScaleStrategy scale_strategy;
  std::optional<std::int32_t> num_of_hosts;  // pods per replica; 1
  Extra extra;

  friend bool operator==(const RayWorkerGroup&, const RayWorkerGroup&) = default;
};

struct RayAutoscalerOptions {
  std::optional<ResourceRequirements> resources;  // of its container in the head pod
  std::optional<std::string> image;
  std::optional<std::string> image_pull_policy;
  Extra extra;

  friend bool operator==(const RayAutoscalerOptions&, const RayAutoscalerOptions&) = default;
};

struct RayClusterSpec {
  std::optional<bool> suspend;
  std::optional<std::string> managed_by;
  std::optional<RayAutoscalerOptions> autoscaler_options;
  StringMap head_service_annotations;
  std::optional<bool> enable_in_tree_autoscaling;
  RayHeadGroup head_group;
  std::string ray_version;
  List<RayWorkerGroup> worker_groups;
  Extra extra;

  friend bool operator==(const RayClusterSpec&, const RayClusterSpec&) = default;
};

struct RayHeadInfo {
  std::string pod_ip;
  std::string service_ip;
  std::string pod_name;
  std::string service_name;
  Extra extra;

  friend bool operator==(const RayHeadInfo&, const RayHeadInfo&) = default;
};

// Worker counts are pods, whatever their names say.
struct RayClusterStatus {
  std::string state;  // "ready", "failed", "suspended"; empty while it comes up
  std::optional<Quantity> desired_cpu;
  std::optional<Quantity> desired_memory;
  std::optional<Quantity> desired_gpu;
  std::optional<Quantity> desired_tpu;
  std::optional<Time> last_update_time;
  std::map<std::string, Time, std::less<>> state_transition_times;
  StringMap endpoints;  // "dashboard": "8265"
  RayHeadInfo head;
  std::string reason;
  // HeadPodReady, RayClusterProvisioned, RayClusterSuspending, RayClusterSuspended, ReplicaFailure
  List<Condition> conditions;
  std::int32_t ready_worker_replicas = 0;
  std::int32_t available_worker_replicas = 0;
  std::int32_t desired_worker_replicas = 0;
  std::int32_t min_worker_replicas = 0;
  std::int32_t max_worker_replicas = 0;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const RayClusterStatus&, const RayClusterStatus&) = default;
};

struct RayCluster {
  ObjectMeta metadata;
  RayClusterSpec spec;
  RayClusterStatus status;
  Extra extra;

  friend bool operator==(const RayCluster&, const RayCluster&) = default;
};

// Replicas that KubeRay runs of a group: `replicas` within its bounds, none while suspended; when
// the bounds contradict each other, the upper one.
std::int64_t desired_replicas(const RayWorkerGroup& group);
// Pods of it: each replica has num_of_hosts. Negative only when the group says so.
std::int64_t desired_pods(const RayWorkerGroup& group);

template <>
struct ResourceTraits<RayCluster> {
  static constexpr std::string_view group = "ray.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "ray.io/v1";
  static constexpr std::string_view kind = "RayCluster";
  static constexpr std::string_view plural = "rayclusters";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
