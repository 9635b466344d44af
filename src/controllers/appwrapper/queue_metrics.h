#pragma once

#include "base/metrics.h"
#include "base/text_map.h"
#include "base/time.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace codeflare::controllers {

// The queue's metrics for Prometheus.
class QueueMetrics {
 public:
  explicit QueueMetrics(MetricsRegistry& registry);

  void depth(std::size_t waiting, std::size_t holding);
  void stepped(Duration took);
  void bound(bool ok);
  // An event of an AppWrapper: Dispatched, Withdrawn, Failed...
  void happened(std::string_view what);
  void dispatched_after(Duration waited);
  void state(const std::string& uid, const std::string& state);
  void gone(const std::string& uid);

 private:
  Gauge& waiting_;
  Gauge& holding_;
  Histogram& step_seconds_;
  Histogram& wait_seconds_;
  MetricFamily<Counter>& bindings_;
  MetricFamily<Counter>& transitions_;
  MetricFamily<Gauge>& by_state_;
  TextMap<std::string> states_;  // by uid
};

}  // namespace codeflare::controllers
