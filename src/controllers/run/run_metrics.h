#pragma once

#include "base/metrics.h"
#include "runtime/informer.h"

namespace codeflare::controllers::runs {

// The gauge codeflare_runs, by phase and by api of the Application. Lives in a handler of the
// informer of Runs.
class RunMetrics {
 public:
  explicit RunMetrics(MetricsRegistry& registry);

  void change(const runtime::ObjectChange& change);

 private:
  Gauge& gauge_of(const kube::Object& run);

  MetricFamily<Gauge>& runs_;
};

}  // namespace codeflare::controllers::runs
