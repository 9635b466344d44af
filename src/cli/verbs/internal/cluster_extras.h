#pragma once

#include "base/async/task.h"
#include "base/time.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/queue_place.h"
#include "json/value.h"
#include "sdk/cluster_events.h"
#include "sdk/clusters.h"
#include "sdk/job_info.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::cli::internal {

// The facts about a Ray cluster that its own objects do not have.
struct ClusterExtras {
  QueuePlace place{};  // of a cluster that waits
  // Of `details`.
  std::optional<std::vector<sdk::JobInfo>> jobs{};  // newest first; absent: not known, or no head
  std::string no_jobs{};                            // why the jobs are not known
  std::vector<sdk::ClusterEvent> events{};
};

// For `details` also jobs, if the head answers within seconds, and Events. Facts that the user may
// not read are left out.
Task<ClusterExtras> gather_extras(Session& session, sdk::ClusterInfo cluster, bool details);

// The lines behind those of the cluster.
std::string render_extras(const ClusterExtras& extras, WallTime now);
// The same as members of the cluster's JSON: queue, jobs, events.
void add_extras(json::Arena& arena, json::Value& cluster, const ClusterExtras& extras);

}  // namespace codeflare::cli::internal
