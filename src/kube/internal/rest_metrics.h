#pragma once

#include "base/metrics.h"
#include "base/time.h"

#include <string>
#include <string_view>

namespace codeflare::kube::internal {

// The rest_client_* metrics under the names that dashboards for client-go expect. Says nothing
// without a registry.
class RestMetrics {
 public:
  RestMetrics(MetricsRegistry* registry, std::string host);

  // `status` 0: no answer came.
  void answered(std::string_view method, int status, Duration took);
  void retried(std::string_view method, int status);

 private:
  std::string host_;
  MetricFamily<Counter>* requests_ = nullptr;
  MetricFamily<Counter>* retries_ = nullptr;
  MetricFamily<Histogram>* durations_ = nullptr;
};

}  // namespace codeflare::kube::internal
