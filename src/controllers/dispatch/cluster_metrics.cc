#include "controllers/dispatch/cluster_metrics.h"

#include <chrono>

namespace codeflare::controllers::dispatch {

ClusterMetrics::ClusterMetrics(MetricsRegistry& registry)
    : dispatches_(registry.counters("codeflare_cluster_dispatches_total",
                                    "Number of copies that a worker cluster accepted.",
                                    {"cluster"})),
      refusals_(registry.counters(
          "codeflare_cluster_refusals_total",
          "Number of copies that a worker cluster rejected, or did not start in time.",
          {"cluster"})),
      losses_(registry.counters("codeflare_cluster_losses_total",
                                "Number of times that the connection to a worker cluster broke.",
                                {"cluster"})),
      redispatches_(registry.counters(
          "codeflare_cluster_redispatches_total",
          "Number of AppWrappers queued again without an answer of their worker cluster.",
          {"cluster"})),
      connected_(registry.gauges("codeflare_cluster_connected",
                                 "Whether the worker cluster is connected.", {"cluster"})),
      round_trip_(registry.gauges("codeflare_cluster_round_trip_seconds",
                                  "Duration of the last probe that the worker cluster answered.",
                                  {"cluster"})),
      copies_(registry.gauges("codeflare_cluster_copies",
                              "Number of copies on the worker cluster, finished ones too.",
                              {"cluster"})) {}

void ClusterMetrics::dispatched(const std::string& cluster) {
  dispatches_.with({cluster}).add();
}

void ClusterMetrics::refused(const std::string& cluster) {
  refusals_.with({cluster}).add();
}

void ClusterMetrics::lost(const std::string& cluster) {
  losses_.with({cluster}).add();
}

void ClusterMetrics::redispatched(const std::string& cluster) {
  redispatches_.with({cluster}).add();
}

void ClusterMetrics::seen(const std::string& cluster, bool connected, Duration round_trip,
                          std::size_t copies) {
  connected_.with({cluster}).set(connected ? 1 : 0);
  round_trip_.with({cluster}).set(std::chrono::duration<double>(round_trip).count());
  copies_.with({cluster}).set(static_cast<double>(copies));
}

void ClusterMetrics::gone(const std::string& cluster) {
  connected_.remove({cluster});
  round_trip_.remove({cluster});
  copies_.remove({cluster});
}

}  // namespace codeflare::controllers::dispatch
