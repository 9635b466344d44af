#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::cli {

extern const Verb kLogsRayCluster;

struct LogsRayClusterFlags {
  std::string name;
  std::string node{};  // "head", "worker" or the name of a pod; empty: all
  std::string out_dir{};
  bool follow = false;
  std::optional<std::int64_t> tail{};  // lines of each container
};
// `codeflare logs raycluster NAME`: of the containers, each line behind the name of its pod; with
// `follow` until the cluster is gone or Ctrl-C. With a directory Ray's own log files go there.
Task<int> run_logs_raycluster(Session& session, LogsRayClusterFlags flags);

}  // namespace codeflare::cli
