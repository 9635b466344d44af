#include "controllers/run/run_metrics.h"

#include "model/run.h"

#include <string>
#include <string_view>

namespace codeflare::controllers::runs {

RunMetrics::RunMetrics(MetricsRegistry& registry)
    : runs_(
          registry.gauges("codeflare_runs",
                          "Runs by phase and by api of their Application (unknown: not compiled).",
                          {"phase", "api"})) {}

void RunMetrics::change(const runtime::ObjectChange& change) {
  if (change.old != nullptr) {
    gauge_of(*change.old).subtract();
  }
  if (change.now != nullptr) {
    gauge_of(*change.now).add();
  }
}

Gauge& RunMetrics::gauge_of(const kube::Object& run) {
  const std::string phase = run.string_at({"status", "phase"});
  const std::string api = run.string_at({"status", "api"});
  return runs_.with({phase.empty() ? model::run_phase::kPending : std::string_view(phase),
                     api.empty() ? std::string_view("unknown") : std::string_view(api)});
}

}  // namespace codeflare::controllers::runs
