#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "sdk/clusters.h"

#include <string>

namespace codeflare::cli {

extern const Verb kWait;
extern const Verb kWaitRayCluster;

struct WaitRayClusterFlags {
  std::string name;
  std::string goal = "ready";
  Duration timeout{};  // zero: none
};
// `codeflare wait raycluster NAME`
Task<int> run_wait_raycluster(Session& session, WaitRayClusterFlags flags);

}  // namespace codeflare::cli
