#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/views/managed_cluster_view.h"
#include "kube/object.h"
#include "model/managed_cluster.h"

#include <optional>
#include <vector>

namespace codeflare::cli {

// By name; what cannot be read is left out.
std::vector<model::ManagedCluster> decode_clusters(const std::vector<kube::ObjectRef>& objects);

// The requests of pods on the nodes of the session's own cluster, "local". Nothing without the
// right to list nodes and pods.
Task<std::optional<ClusterUse>> use_of_this_cluster(Session& session);

// Whether this queue has worker clusters, as far as the caller may see.
Task<bool> has_workers(Session& session);

}  // namespace codeflare::cli
