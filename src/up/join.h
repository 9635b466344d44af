#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/client.h"
#include "up/cluster.h"

#include <functional>
#include <string>

namespace codeflare::up {

struct Join {
  Env env;
  kube::Client& client;
  ProcessNode node;
  std::string server;
  std::string name;  // of what does it: "codeflare-node"
  Logger logger;
  MetricsRegistry& metrics;
  StopToken stop;
  StopToken skip_grace;  // pods that are being ended have had grace enough
  std::function<void(const ProcessNode&)> joined;  // once it runs pods
};

// A node of a cluster that others run, until `stop`: then its pods end with their grace. When it
// ends for another reason they go on, and the next start adopts them.
Task<Result<void>> run_join(Join join);

}  // namespace codeflare::up
