#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/posix.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::node {

struct ProbeUrl {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";
  // Where the connection begins: in the network of the pod with this UID, where 127.0.0.1 is the
  // pod itself; empty: in the one that reaches all pods; absent: in the machine's. The words of a
  // host have no part in that: pods write them.
  std::optional<std::string> network{};
};

// How probes and hooks reach the ports of pods. Deadlines are the caller's.
class ProbeNetwork {
 public:
  virtual ~ProbeNetwork() = default;
  // The status of the answer to a GET; certificates are not checked. An answer that sends
  // elsewhere on the same host is followed ten times at most, as any other it is the answer.
  virtual Task<Result<int>> get(ProbeUrl url, net::Headers headers) = 0;
  // Whether somebody accepts.
  virtual Task<Result<void>> connect(ProbeUrl url) = 0;
};

// Sockets of the networks that pods are in come from `sockets`; without it there are none.
using PodSockets = std::function<Task<Result<FileDescriptor>>(std::string uid)>;
std::unique_ptr<ProbeNetwork> make_probe_network(Env env, PodSockets sockets = {});

}  // namespace codeflare::node
