#pragma once

#include "apiserver/server/api_server.h"
#include "app/pod_connect.h"
#include "app/up_cluster.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "kube/client.h"
#include "node/log_service.h"
#include "node/pod_agent.h"
#include "node/stream/stream_service.h"
#include "runtime/manager.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace codeflare {

// The process node of `codeflare up`, from its registration to the end of its pods. The manager
// runs its agent; the options outlive it.
class UpNode {
 public:
  UpNode(Env env, const ProcessNode& options, runtime::Manager& manager, Logger logger);

  // Before the manager runs: the Node is there, pods of an earlier run are known, logs and streams
  // are served, until stop().
  Task<Result<void>> prepare(PodConnect& connect);
  // Heartbeats, until the group stops.
  void keep_alive(TaskGroup& group);
  // The server listens there: tells pods where they find it, and has it listen where they are.
  Task<Result<void>> serve(apiserver::ApiServer& server, std::string address, std::uint16_t port);
  // While the manager still runs: ends the pods and says that nobody is here any more.
  Task<void> stop();

 private:
  Env env_;
  const ProcessNode& options_;
  kube::Client& client_;
  Logger logger_;
  std::string api_host_;
  std::string api_port_;
  std::pair<std::string, std::string> api_in_network_;
  node::LogService logs_;
  std::optional<node::StreamService> streams_;
  PodConnect* connect_ = nullptr;  // while it serves
  node::PodAgent& agent_;
};

}  // namespace codeflare
