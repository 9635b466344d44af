#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/posix.h"
#include "base/result.h"
#include "net/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace codeflare::node {

struct ProbeUrl {
  bool tls = false;
  std::string host;
  std::uint16_t port = 0;
  std::string target = "/";
};

// How probes and hooks reach the ports of pods. Deadlines are the caller's.
class ProbeNetwork {
 public:
  virtual ~ProbeNetwork() = default;
  // The status of the answer to a GET; certificates are not checked. An answer that sends
  // elsewhere on the same host is followed ten times at most, as any other it is the answer.
  virtual Task<Result<int>> get(ProbeUrl url, net::Headers headers) = 0;
  // Whether somebody accepts.
  virtual Task<Result<void>> connect(std::string host, std::uint16_t port) = 0;
};

// Over the machine's own network; other hosts than 127.0.0.1 with sockets of `make_socket`, where
// it is given: those of the network that pods are in.
using MakeSocket = std::function<Task<Result<FileDescriptor>>()>;
std::unique_ptr<ProbeNetwork> make_probe_network(Env env, MakeSocket make_socket = {});

}  // namespace codeflare::node
