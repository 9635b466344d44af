#pragma once

#include "base/metrics.h"
#include "base/time.h"

#include <cstddef>
#include <string>

namespace codeflare::controllers::dispatch {

// Numbers per worker cluster, for Prometheus.
class ClusterMetrics {
 public:
  explicit ClusterMetrics(MetricsRegistry& registry);

  void dispatched(const std::string& cluster);
  void refused(const std::string& cluster);
  void lost(const std::string& cluster);
  void redispatched(const std::string& cluster);
  void seen(const std::string& cluster, bool connected, Duration round_trip, std::size_t copies);
  void gone(const std::string& cluster);

 private:
  MetricFamily<Counter>& dispatches_;
  MetricFamily<Counter>& refusals_;
  MetricFamily<Counter>& losses_;
  MetricFamily<Counter>& redispatches_;
  MetricFamily<Gauge>& connected_;
  MetricFamily<Gauge>& round_trip_;
  MetricFamily<Gauge>& copies_;
};

}  // namespace codeflare::controllers::dispatch
