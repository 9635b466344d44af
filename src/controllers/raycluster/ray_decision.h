#pragma once

#include "base/time.h"
#include "controllers/raycluster/ray_pods.h"
#include "model/ray_cluster.h"
#include "model/service.h"
#include "runtime/reconciler.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers::raycluster {

// A RayCluster with what belongs to it, as the caches show it.
struct Observed {
  model::RayCluster cluster;
  std::vector<RayPod> pods;  // those that it controls
  std::optional<model::Service> head_service;
  bool handed_over = false;  // to a KubeRay operator that has just come
};

struct Removal {
  RayPod pod;
  std::string why;
};

struct Desired {
  bool create_service = false;
  bool create_token = false;  // unless the Secret exists; before the pods that need it
  // Account and rights of the autoscaler, unless they exist; before the head that needs them.
  bool create_autoscaler = false;
  bool create_head = false;
  // How many pods to add, by position in spec.workerGroupSpecs.
  std::vector<std::size_t> create_workers;
  std::vector<Removal> remove;
  std::optional<model::RayClusterStatus> status;  // absent: leave it
  std::vector<runtime::EventNote> events;
};

// Why the cluster cannot be run, or empty.
std::string invalid(const model::RayCluster& cluster);
// Fields that are set but not acted upon here.
std::vector<std::string> ignored_fields(const model::RayCluster& cluster);

// The decision of the KubeRay operator 1.5. Pure.
//  - One head; when it has ended it is removed, and made anew when it is gone. Workers stay.
//  - Worker groups have their replicas within bounds; ended workers are replaced once they are
//  gone;
//    workersToDelete go in any case; fewer replicas remove those first that have come least far,
//    but only the autoscaler chooses workers where it runs.
//  - Suspending removes all pods; the conditions RayClusterSuspending and RayClusterSuspended make
//  it
//    one step that is finished before the cluster may resume.
//  - After a hand-over only a second head is removed, which both made at the same time: the
//  operator waits until somebody does.
// Unlike there, pods of a group that is no longer in the spec are removed.
Desired decide(const Observed& observed, WallTime now);

// The status that follows from what is there; nothing about times when nothing else changes.
model::RayClusterStatus status_of(const Observed& observed, WallTime now);

}  // namespace codeflare::controllers::raycluster
