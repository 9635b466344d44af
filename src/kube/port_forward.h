#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/gvk.h"
#include "net/byte_stream.h"
#include "net/http.h"

#include <cstdint>

namespace codeflare::kube {

struct PodPort {
  model::ObjectKey pod;
  std::uint16_t port = 0;
};

// Carries one connection to a port of a pod's loopback until either side ends. Each connection has
// a WebSocket of its own (v4.channel.k8s.io): a pod that was replaced affects no connection but its
// own. The protocol cannot end one direction alone, so the pod is not told when `local` ends; what
// it still sends within ten seconds of the last piece is passed on.
//   co_await forward_connection(env, session.service(), {{"default", "web-0"}, 8080}, accepted);
// Errors: those of the API server before the upgrade; `unavailable` with the pod's reason when
// nobody listens on the port.
Task<Result<void>> forward_connection(Env env, net::HttpService& service, PodPort to,
                                      net::ByteStream& local);

}  // namespace codeflare::kube
