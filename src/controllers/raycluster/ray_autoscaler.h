#pragma once

#include "model/pod.h"
#include "model/ray_cluster.h"
#include "model/resources.h"

#include <string>
#include <vector>

namespace codeflare::controllers::raycluster {

// Ray's own autoscaler as KubeRay 1.5 runs it: a container beside the head that asks Ray what is
// needed and patches `replicas` and `workersToDelete` of the RayCluster, under a service account
// with a role of its own.

bool autoscales(const model::RayClusterSpec& spec);
// Why the autoscaler cannot run, or empty.
std::string invalid_autoscaling(const model::RayClusterSpec& spec);

struct AutoscalerObject {
  model::ResourceType type;
  std::string body;
};
// The head needs these before it starts: the ServiceAccount, unless the head names one, then Role
// and RoleBinding.
std::vector<AutoscalerObject> autoscaler_objects(const model::RayCluster& cluster);

// Ray's own monitor gives way to the container.
void set_monitor(const model::RayClusterSpec& spec, model::StringMap& start_params);
// Puts the container into a head; version 2 of the autoscaler also wants pods that do not restart.
void add_autoscaler(const model::RayCluster& cluster, model::Pod& head);
void set_restart_policy(const model::RayClusterSpec& spec, model::Pod& pod);

}  // namespace codeflare::controllers::raycluster
