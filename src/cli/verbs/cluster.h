#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "kube/client.h"
#include "kube/config.h"

#include <string>
#include <vector>

namespace codeflare::cli {

extern const Verb kCluster;

struct ClusterFlags {
  std::string name;
  std::string from;                 // kubeconfig of the worker
  std::string from_context;         // empty: its current one
  std::vector<std::string> labels;  // KEY=VALUE
  double cost = 0;
  bool create_namespaces = false;
  std::string lost_after;  // given: work may start elsewhere when the worker is silent for so long
  bool undo = false;       // of drain
  bool evict = false;
  bool wait = false;
  bool lost = false;
};

// A worker's API server, and what a kubeconfig that leads there needs.
struct Worker {
  kube::Client& client;
  const kube::Config& config;
};

// `codeflare cluster add|list|drain|remove`: worker clusters behind the hub's queue. The session is
// the hub's.
Task<int> run_cluster_add(Session& hub, ClusterFlags flags);
Task<int> add_cluster(Session& hub, Worker worker, ClusterFlags flags);
Task<int> run_cluster_list(Session& hub, ClusterFlags flags);
Task<int> run_cluster_drain(Session& hub, ClusterFlags flags);
Task<int> run_cluster_remove(Session& hub, ClusterFlags flags);
// `codeflare top clusters`.
Task<int> run_top_clusters(Session& hub);

}  // namespace codeflare::cli
