#pragma once

#include "model/extra.h"
#include "model/meta.h"
#include "model/pod.h"
#include "model/ray_cluster.h"
#include "model/resources.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// RayJob (ray.io/v1, v1alpha1 alike) as KubeRay 1.5 defines it: what we act on is typed, the rest
// stays in `extra`.
namespace codeflare::model {

struct RaySubmitterConfig {
  std::optional<std::int32_t> backoff_limit;  // of the submitter's Job; 2
  Extra extra;

  friend bool operator==(const RaySubmitterConfig&, const RaySubmitterConfig&) = default;
};

struct RayJobSpec {
  std::optional<std::int32_t> active_deadline_seconds;
  std::optional<std::int32_t> backoff_limit;  // each retry has a new cluster; 0
  std::optional<RayClusterSpec> ray_cluster_spec;
  std::optional<PodTemplateSpec> submitter_pod_template;
  StringMap metadata;          // of the Ray job
  StringMap cluster_selector;  // "ray.io/cluster": the name of an existing cluster
  std::optional<RaySubmitterConfig> submitter_config;
  std::optional<std::string> managed_by;
  RawJson deletion_strategy;
  std::string entrypoint;
  std::string runtime_env_yaml;
  std::string job_id;                // the submission id to use
  std::string submission_mode;       // "K8sJobMode" when empty
  std::string entrypoint_resources;  // JSON
  std::optional<double> entrypoint_num_cpus;
  std::optional<double> entrypoint_num_gpus;
  std::int32_t ttl_seconds_after_finished = 0;
  bool shutdown_after_job_finishes = false;
  bool suspend = false;
  Extra extra;

  friend bool operator==(const RayJobSpec&, const RayJobSpec&) = default;
};

// Times of Ray itself.
struct RayJobTimes {
  std::optional<Time> start_time;
  std::optional<Time> end_time;
  Extra extra;

  friend bool operator==(const RayJobTimes&, const RayJobTimes&) = default;
};

struct RayJobStatus {
  RayJobTimes ray_job_info;
  std::string job_id;  // the submission id in use
  std::string ray_cluster_name;
  std::string dashboard_url;  // host and port
  std::string job_status;  // Ray's: PENDING, RUNNING, STOPPED, SUCCEEDED, FAILED; empty: none yet
  // Initializing, Running, Complete, Failed, ValidationFailed, Suspending, Suspended, Retrying,
  // Waiting; empty: new
  std::string job_deployment_status;
  std::string reason;
  std::string message;
  std::optional<Time> start_time;
  std::optional<Time> end_time;
  std::optional<std::int32_t> succeeded;
  std::optional<std::int32_t> failed;
  std::optional<RayClusterStatus> ray_cluster_status;
  std::int64_t observed_generation = 0;
  Extra extra;

  friend bool operator==(const RayJobStatus&, const RayJobStatus&) = default;
};

struct RayJob {
  ObjectMeta metadata;
  RayJobSpec spec;
  RayJobStatus status;
  Extra extra;

  friend bool operator==(const RayJob&, const RayJob&) = default;
};

template <>
struct ResourceTraits<RayJob> {
  static constexpr std::string_view group = "ray.io";
  static constexpr std::string_view version = "v1";
  static constexpr std::string_view api_version = "ray.io/v1";
  static constexpr std::string_view kind = "RayJob";
  static constexpr std::string_view plural = "rayjobs";
  static constexpr bool namespaced = true;
};

}  // namespace codeflare::model
