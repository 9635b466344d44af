#pragma once

#include "base/async/task.h"
#include "cli/session/session.h"
#include "cli/verbs/verb.h"
#include "cli/views/usage_view.h"
#include "queue/marks.h"

#include <string>

namespace codeflare::cli {

extern const Verb kUsageVerb;

struct UsageFlags {
  std::string by = "namespace";
  std::string since{};
  std::string output{};  // "", "csv", "json"
  bool all_namespaces = false;
  bool free_pods = false;
  std::string controller_ns{queue::kControllerNamespace};
};
// `codeflare usage`: what TrainingJobs have used, from the ledgers.
Task<int> run_usage(Session& session, UsageFlags flags);

}  // namespace codeflare::cli
