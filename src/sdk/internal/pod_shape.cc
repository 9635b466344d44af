#include "sdk/internal/pod_shape.h"

#include "model/codec/ray_cluster.h"
#include "sdk/cluster_manifest.h"

#include <array>
#include <string>
#include <utility>

namespace codeflare::sdk::internal {

namespace {

// Why a cluster with nothing but this field cannot be a RayCluster; empty: it can.
std::string problem_of(const ClusterConfig& trial) {
  const json::Document manifest = ray_cluster_manifest(trial);
  const auto ray = model::from_json<model::RayCluster>(manifest.root);
  if (!ray) {
    return ray.error().message;
  }
  bool whole = !ray->spec.head_group.pod_template.spec.containers.empty();
  for (const auto& group : ray->spec.worker_groups) {
    whole = whole && !group.pod_template.spec.containers.empty();
  }
  return whole ? "" : "no container is left";
}

}  // namespace

std::vector<Fault> shape_faults(const ClusterConfig& config) {
  using Member = model::RawJson ClusterConfig::*;
  constexpr std::array<std::pair<const char*, Member>, 6> kFields = {{
      {"volumes", &ClusterConfig::volumes},
      {"volume_mounts", &ClusterConfig::volume_mounts},
      {"head_tolerations", &ClusterConfig::head_tolerations},
      {"worker_tolerations", &ClusterConfig::worker_tolerations},
      {"head_pod_overrides", &ClusterConfig::head_pod_overrides},
      {"worker_pod_overrides", &ClusterConfig::worker_pod_overrides},
  }};
  constexpr const char* kFix = "write it as in a pod of Kubernetes";
  std::vector<Fault> faults;
  for (const auto& [field, member] : kFields) {
    if ((config.*member).empty()) {
      continue;
    }
    ClusterConfig trial{.name = "trial"};
    trial.*member = config.*member;
    if (std::string problem = problem_of(trial); !problem.empty()) {
      faults.push_back({field, "", "does not fit into a pod (" + problem + ")", kFix});
    }
  }
  for (const WorkerGroup& group : config.additional_worker_groups) {
    if (!group.tolerations) {
      continue;
    }
    ClusterConfig trial{.name = "trial"};
    trial.worker_tolerations = *group.tolerations;
    if (std::string problem = problem_of(trial); !problem.empty()) {
      faults.push_back({"additional_worker_groups", group.group_name,
                        "has tolerations that do not fit into a pod (" + problem + ")", kFix});
    }
  }
  return faults;
}

}  // namespace codeflare::sdk::internal
