#pragma once

#include "base/env/env.h"
#include "base/result.h"
#include "model/pod.h"
#include "net/http.h"
#include "node/agent/log_reader.h"
#include "node/agent/pod_runtime.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::node {

// The query of `kubectl logs`.
struct LogRequest {
  std::string container{};  // empty: the only one
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<WallTime> since{};
  std::optional<std::int64_t> tail_lines{};
  std::optional<std::int64_t> limit_bytes{};
};

// Logs of the pods of this node. Errors are those that a kubelet gives, in its words.
class LogService {
 public:
  LogService(Env env, const PodRuntime& pods, LogFiles& files)
      : env_(env), pods_(pods), files_(files) {}

  Result<net::Body> open(const model::Pod& pod, const LogRequest& request) const;
  WallTime now() const { return env_.clock.wall(); }

 private:
  Env env_;
  const PodRuntime& pods_;
  LogFiles& files_;
};

}  // namespace codeflare::node
