#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/verb.h"

#include <memory>

namespace codeflare::cli {

extern const Verb kCreateRayCluster;
extern const Verb kSubmit;
extern const Verb kSubmitRayCluster;

struct CreateRayClusterFlags {
  std::shared_ptr<internal::ClusterFlags> cluster = std::make_shared<internal::ClusterFlags>();
  bool wait = false;
  bool dry_run = false;  // by the server
  Duration timeout{};    // of the wait; zero: none
};
// `codeflare create raycluster NAME`: from the options, else NAME.yaml as it stands.
Task<int> run_create_raycluster(Session& session, CreateRayClusterFlags flags);

}  // namespace codeflare::cli
