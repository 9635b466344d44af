#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/internal/cluster_flags.h"
#include "cli/verbs/verb.h"

#include <memory>

namespace codeflare::cli {

extern const Verb kDefine;
extern const Verb kDefineRayCluster;

struct DefineRayClusterFlags {
  std::shared_ptr<internal::ClusterFlags> cluster = std::make_shared<internal::ClusterFlags>();
  bool force = false;
};
// `codeflare define raycluster NAME`: writes NAME.yaml; asks no server.
Task<int> run_define_raycluster(Session& session, DefineRayClusterFlags flags);

}  // namespace codeflare::cli
