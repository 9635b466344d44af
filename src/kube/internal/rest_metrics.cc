#include "kube/internal/rest_metrics.h"

#include <chrono>
#include <utility>

namespace codeflare::kube::internal {

namespace {

std::string code_label(int status) {
  return status == 0 ? "<error>" : std::to_string(status);
}

}  // namespace

RestMetrics::RestMetrics(MetricsRegistry* registry, std::string host) : host_(std::move(host)) {
  if (registry == nullptr) {
    return;
  }
  requests_ = &registry->counters("rest_client_requests_total",
                                  "Number of HTTP requests, by status code, method and host.",
                                  {"code", "method", "host"});
  retries_ = &registry->counters("rest_client_request_retries_total",
                                 "Number of request retries, by status code, verb and host.",
                                 {"code", "verb", "host"});
  durations_ = &registry->histograms(
      "rest_client_request_duration_seconds",
      "Time until the head of the answer in seconds, by verb and host.", {"verb", "host"},
      {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60});
}

void RestMetrics::answered(std::string_view method, int status, Duration took) {
  if (requests_ != nullptr) {
    const std::string code = code_label(status);
    requests_->with({code, method, host_}).add();
    durations_->with({method, host_}).observe(std::chrono::duration<double>(took).count());
  }
}

void RestMetrics::retried(std::string_view method, int status) {
  if (retries_ != nullptr) {
    const std::string code = code_label(status);
    retries_->with({code, method, host_}).add();
  }
}

}  // namespace codeflare::kube::internal
