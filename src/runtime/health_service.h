#pragma once

#include "net/http.h"

#include <functional>
#include <string>

namespace codeflare::runtime {

// /healthz and /livez (the process turns), /readyz (what is missing, if anything) and /metrics, for
// kubelet probes and Prometheus.
class HealthService final : public net::HttpService {
 public:
  struct Answers {
    // Empty when ready; otherwise one line that says what is missing.
    std::function<std::string()> why_not_ready;
    // The text exposition; absent: no metrics.
    std::function<std::string()> metrics;
    // Follows "ok" of /readyz on a line of its own; absent or empty: nothing does.
    std::function<std::string()> ready_note{};
  };
  explicit HealthService(Answers answers);

  Task<Result<net::Response>> send(net::Request request) override;

 private:
  Answers answers_;
};

}  // namespace codeflare::runtime
