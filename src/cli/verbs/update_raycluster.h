#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/verb.h"

#include <memory>
#include <string>

namespace codeflare::cli {

extern const Verb kUpdate;
extern const Verb kUpdateRayCluster;

struct UpdateRayClusterFlags {
  std::shared_ptr<internal::ClusterFlags> cluster = std::make_shared<internal::ClusterFlags>();
  std::string worker_group;  // empty: the first
  bool recreate = false;
  bool wait = false;
  Duration timeout{};  // of the wait; zero: none
};
// `codeflare update raycluster NAME`: workers and priority change in place; anything else needs
// --recreate.
Task<int> run_update_raycluster(Session& session, UpdateRayClusterFlags flags);

}  // namespace codeflare::cli
