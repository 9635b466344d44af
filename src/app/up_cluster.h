#pragma once

#include "apiserver/server/api_server.h"
#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/fakenode/fake_nodes.h"

#include <cstdint>
#include <functional>
#include <string>

namespace codeflare {

struct UpOptions {
  apiserver::ApiServer::Options server;
  // Nobody is listened to when the address is empty: calls in process only.
  std::string address;
  std::uint16_t port = 0;
  controllers::fakenode::FakeNodeOptions nodes;
  controllers::QueueControllersOptions queue;
};

struct UpReady {
  apiserver::ApiServer& server;
  std::uint16_t port = 0;
};

// A whole cluster in one process: API server, definitions, queue, Jobs, RayClusters and fake nodes,
// all as clients of the server under an identity of their own. Until `stop`; calls `ready` when
// work can be given to it. Ends in order: controllers, then the server.
Task<Result<void>> run_up(Env env, UpOptions options, Logger logger, MetricsRegistry& metrics,
                          StopToken stop, std::function<void(const UpReady&)> ready);

}  // namespace codeflare
