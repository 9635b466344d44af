#pragma once

#include "base/time.h"
#include "model/deployment.h"
#include "model/replica_set.h"
#include "runtime/reconciler.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers::apps {

inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

struct ObservedDeployment {
  model::Deployment deployment;
  std::vector<model::ReplicaSet> sets;     // that it controls
  std::vector<model::ReplicaSet> orphans;  // of its namespace
  // UIDs of those sets that have pods which have not ended, also ones that are going.
  std::set<std::string> with_pods;
  // Names in the namespace that are taken by sets which are not its own.
  std::set<std::string> taken;
};

struct DesiredDeployment {
  std::optional<model::DeploymentStatus> status;  // absent: leave it as it is
  std::optional<std::string> revision;            // of the Deployment's annotation, when it changes
  std::optional<model::ReplicaSet> create;
  std::vector<model::ReplicaSet> update;  // sets as they should be: replicas, annotations
  std::vector<model::ReplicaSet> adopt;
  std::vector<model::ReplicaSet> release;
  std::vector<model::ReplicaSet> remove;  // beyond the history limit
  std::vector<runtime::EventNote> events;
  std::optional<Duration> look_again;
};

// One step of what the Deployment controller of Kubernetes 1.34 would do: the next change of the
// sets calls for the next one. Pure.
DesiredDeployment decide(const ObservedDeployment& observed, WallTime now);

// How many pods more and fewer than asked for there may be during an update; percentages round up
// and down, and both are never zero.
struct Leeway {
  std::int32_t surge = 0;
  std::int32_t unavailable = 0;
};
Leeway leeway(const model::Deployment& deployment);

}  // namespace codeflare::controllers::apps
