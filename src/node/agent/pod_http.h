#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "model/pod.h"
#include "net/http.h"
#include "node/agent/pod_network.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace codeflare::node {

struct PodPort {
  std::uint16_t number = 0;
  bool tls = false;  // certificates are not checked
};

// HTTP to the ports of this node's pods, a connection per request; an upgrade is answered with the
// connection. A request that has begun goes on without this; the network outlives it.
class PodHttp {
 public:
  static constexpr std::size_t kOpenMax = 512;  // more requests at a time fail

  // Without a network pods have the machine's.
  PodHttp(Env env, PodNetwork* network) : env_(env), network_(network) {}

  // `unavailable` when nobody answers there. The deadline is the caller's.
  Task<Result<net::Response>> send(model::Pod pod, PodPort port, net::Request request);
  // Requests whose answers have not ended.
  std::size_t open() const { return *open_; }

 private:
  Env env_;
  PodNetwork* network_;
  std::shared_ptr<std::size_t> open_ = std::make_shared<std::size_t>(0);
};

}  // namespace codeflare::node
