#pragma once

#include "base/async/stop_token.h"
#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/client.h"
#include "net/tls.h"
#include "up/cluster.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace codeflare::up {

// Where a joined node serves the API server, as a kubelet does.
struct KubeletPort {
  std::string address;  // literal; becomes the Node's InternalIP
  std::uint16_t port = 10250;
  net::TlsServerOptions tls;  // with the authority of its clients
};

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
  std::optional<KubeletPort> kubelet{};            // absent: logs and streams are not served
};

// A node of a cluster that others run, until `stop`: then its pods end with their grace. When it
// ends for another reason they go on, and the next start adopts them.
Task<Result<void>> run_join(Join join);

}  // namespace codeflare::up
