#pragma once

#include "base/time.h"
#include "controllers/apps/workload_pods.h"
#include "model/replica_set.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::apps {

// A ReplicaSet and the pods that are its own or could be.
struct ObservedReplicaSet {
  model::ReplicaSet set;
  std::vector<WorkloadPod> pods;     // that it controls
  std::vector<WorkloadPod> orphans;  // of its namespace
  // Pods of the sets that share its controller (of one Deployment), by node.
  std::map<std::string, std::size_t> pods_on_node;
};

struct DesiredReplicaSet {
  std::optional<model::ReplicaSetStatus> status;  // absent: leave it as it is
  std::vector<WorkloadPod> adopt;
  std::vector<WorkloadPod> release;
  std::vector<WorkloadPod> remove;
  std::size_t create = 0;
  std::optional<Duration> look_again;
};

// The decision of the ReplicaSet controller of Kubernetes 1.34. Pure.
DesiredReplicaSet decide(const ObservedReplicaSet& observed, WallTime now);

}  // namespace codeflare::controllers::apps
