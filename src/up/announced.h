#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/time.h"
#include "up/cluster.h"
#include "up/presence.h"
#include "up/state.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace codeflare::up {

// "codeflare-0", of the process nodes of a cluster.
std::string node_name(std::size_t index);

// Notes about the nodes for people, in lines.
std::vector<std::string> about_nodes(const UpOptions& options);

struct AnnouncedRun {
  Env env;
  UpOptions options;
  Logger logger;
  MetricsRegistry& metrics;
  StopToken stop;
  UpPresence& presence;
  UpState state;  // all of it that is known before the start
  Instant began;
  std::function<void(const UpState&)> ready;
};

// The cluster from its start to its end (run_up), and what others see of it.
Task<Result<void>> run_announced(AnnouncedRun run);

}  // namespace codeflare::up
