#pragma once

#include "base/result.h"
#include "model/extra.h"
#include "model/meta.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sdk {

// The queue that manages a cluster.
enum class Queueing : std::uint8_t {
  automatic,   // an AppWrapper where the server has that kind, else a bare RayCluster
  appwrapper,  // an AppWrapper around the RayCluster
  kueue,       // a bare RayCluster with the label of a LocalQueue
  none,        // a bare RayCluster
};
std::string_view to_string(Queueing queueing);

inline constexpr std::string_view kRayVersion = "2.60.0";
inline constexpr std::string_view kGpu = "nvidia.com/gpu";

// A further group of workers beside the one that the cluster's own fields describe.
struct WorkerGroup {
  std::string group_name;
  std::int64_t replicas = 1;
  std::optional<std::int64_t> min_replicas;
  std::optional<std::int64_t> max_replicas;
  std::string cpu_requests = "1";
  std::string cpu_limits = "1";
  std::string memory_requests = "3G";
  std::string memory_limits = "6G";
  model::StringMap extended_resource_requests;
  std::string image;  // empty: the cluster's
  model::StringMap envs;
  model::StringMap labels;
  std::optional<model::RawJson> tolerations;  // absent: the cluster's worker_tolerations
  model::StringMap node_selector;

  friend bool operator==(const WorkerGroup&, const WorkerGroup&) = default;
};

// A Ray cluster as a person describes it. Amounts are Kubernetes quantities; lists and objects of
// Kubernetes' own shape (volumes, tolerations, pod overrides) are kept as JSON.
//   ClusterConfig config{.name = "demo", .num_workers = 2};
//   TRY(check(config));  std::string yaml = cluster_yaml(config);
// Every member but `additional_worker_groups` is a row of cluster_fields().
struct ClusterConfig {
  std::string name;
  std::string ns;  // "namespace"; empty: the current one
  std::int64_t num_workers = 1;
  std::string worker_cpu_requests = "1";
  std::string worker_cpu_limits = "1";
  std::string worker_memory_requests = "3G";
  std::string worker_memory_limits = "6G";
  model::StringMap worker_extended_resource_requests;
  std::string head_cpu_requests = "1";
  std::string head_cpu_limits = "2";
  std::string head_memory_requests = "5G";
  std::string head_memory_limits = "8G";
  model::StringMap head_extended_resource_requests;
  // Kubernetes resource -> Ray's name for it, beyond the built-in ones.
  model::StringMap extended_resource_mapping;
  bool overwrite_default_resource_mapping = false;
  std::vector<WorkerGroup> additional_worker_groups;

  std::string ray_version{kRayVersion};
  std::string image;  // empty: rayproject/ray:<ray_version>
  std::vector<std::string> image_pull_secrets;
  model::StringMap envs;
  bool enable_usage_stats = false;

  model::StringMap labels;
  model::StringMap annotations;
  model::RawJson volumes;
  model::RawJson volume_mounts;
  model::RawJson head_tolerations;
  model::RawJson worker_tolerations;
  model::StringMap head_node_selector;
  model::StringMap worker_node_selector;
  std::string service_account;
  model::RawJson head_pod_overrides;    // merged into the head's pod spec as kubectl merges
  model::RawJson worker_pod_overrides;  // likewise, every worker group

  Queueing queueing = Queueing::automatic;
  std::optional<std::int64_t> priority;  // of the AppWrapper
  std::string priority_class;            // of the pods
  std::string local_queue;               // Kueue's
  model::StringMap quota_labels;         // quota tree -> node of it
  std::int64_t max_seconds = 0;          // "max_time"; 0: no limit
  bool instascale = false;
  std::vector<std::string> machine_types;

  bool enable_autoscaling = false;
  std::optional<std::int64_t> min_workers;
  std::optional<std::int64_t> max_workers;
  bool token_authentication = false;  // Ray rejects clients and requests without its token
  // The dashboard behind a Route, HTTPRoute or Ingress with TLS, never without Ray's token unless
  // insecure_dashboard is set.
  bool expose = false;
  std::string expose_kind;        // route, httproute, ingress; empty: by what the server has
  std::string expose_host;        // empty: OpenShift chooses it
  std::string expose_tls_secret;  // of an Ingress; empty: the controller's own certificate
  std::string expose_gateway;     // of an HTTPRoute: NAMESPACE/NAME[/LISTENER]
  bool insecure_dashboard = false;
  bool enable_gcs_ft = false;
  std::string redis_address;
  model::StringMap redis_password_secret;  // name, key
  std::string external_storage_namespace;

  bool write_to_file = true;  // `NAME.yaml` in the working directory

  // The image of the pods.
  std::string image_or_default() const;

  friend bool operator==(const ClusterConfig&, const ClusterConfig&) = default;
};

// One thing that is wrong with a configuration.
struct Fault {
  std::string field;
  std::string value;  // as given; may be empty
  std::string problem;
  std::string fix;

  // "num_workers: -1 is negative; give 0 or more workers"
  std::string sentence() const;
  friend bool operator==(const Fault&, const Fault&) = default;
};

// Everything that is wrong with it, in the order of the fields.
std::vector<Fault> faults_of(const ClusterConfig& config);
// invalid_argument with a line for each fault.
Error config_error(const std::vector<Fault>& faults);

}  // namespace codeflare::sdk
