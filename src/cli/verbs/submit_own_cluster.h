#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "cli/session/session.h"
#include "cli/verbs/submit_ddp.h"
#include "sdk/jobs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace codeflare::cli {

namespace internal {
struct ClusterFlags;
}

// `submit job --own-cluster`: the cluster of a job that brings one.
struct OwnClusterFlags {
  OwnClusterFlags();

  bool wanted = false;
  std::shared_ptr<internal::ClusterFlags> fields;
  std::optional<std::int64_t> ttl{};  // seconds after the end; absent: the record stays
};
// After all other options of the verb: those that it has already are not added again.
void add_own_cluster_flags(CLI::App& verb, OwnClusterFlags& flags);

// Options that contradict each other; empty: none. `elsewhere`: a cluster or address is named.
std::string contradiction(const OwnClusterFlags& flags, const DdpFlags& ddp, bool elsewhere);

// Queues the job; notes for people. Sizes that DDP jobs have too come from `ddp`. An error without
// a message was reported.
Task<Result<std::vector<std::string>>> submit_with_cluster(Session& session, OwnClusterFlags flags,
                                                           DdpFlags ddp, sdk::JobSpec spec);

}  // namespace codeflare::cli
