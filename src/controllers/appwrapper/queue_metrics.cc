#include "controllers/appwrapper/queue_metrics.h"

#include <chrono>

namespace codeflare::controllers {

namespace {

double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

QueueMetrics::QueueMetrics(MetricsRegistry& registry)
    : waiting_(
          registry.gauge("codeflare_queue_waiting", "Number of AppWrappers waiting in the queue.")),
      holding_(registry.gauge("codeflare_queue_holding",
                              "Number of AppWrappers that hold resources in the cluster.")),
      step_seconds_(registry.histogram("codeflare_queue_step_seconds",
                                       "Duration of one scheduling round.",
                                       exponential_buckets(1e-6, 10, 8))),
      wait_seconds_(registry.histogram("codeflare_queue_wait_seconds",
                                       "Time from the creation of an AppWrapper to its dispatch.",
                                       exponential_buckets(0.1, 3, 13))),
      bindings_(registry.counters("codeflare_bindings_total",
                                  "Number of pods bound to nodes, by result.", {"result"})),
      transitions_(registry.counters("codeflare_appwrapper_transitions_total",
                                     "Number of AppWrapper transitions: Dispatched, Completed, "
                                     "Failed, Withdrawn, Preempted...",
                                     {"what"})),
      by_state_(registry.gauges("codeflare_appwrappers", "Number of AppWrappers by status.state.",
                                {"state"})) {}

void QueueMetrics::depth(std::size_t waiting, std::size_t holding) {
  waiting_.set(static_cast<double>(waiting));
  holding_.set(static_cast<double>(holding));
}

void QueueMetrics::stepped(Duration took) {
  step_seconds_.observe(to_seconds(took));
}

void QueueMetrics::bound(bool ok) {
  bindings_.with({ok ? "ok" : "failed"}).add();
}

void QueueMetrics::happened(std::string_view what) {
  transitions_.with({what}).add();
}

void QueueMetrics::dispatched_after(Duration waited) {
  wait_seconds_.observe(to_seconds(waited));
}

void QueueMetrics::state(const std::string& uid, const std::string& state) {
  const std::string named = state.empty() ? "New" : state;
  std::string& known = states_[uid];
  if (known == named) {
    return;
  }
  if (!known.empty()) {
    by_state_.with({known}).subtract();
  }
  by_state_.with({named}).add();
  known = named;
}

void QueueMetrics::gone(const std::string& uid) {
  auto known = states_.find(uid);
  if (known != states_.end()) {
    by_state_.with({known->second}).subtract();
    states_.erase(known);
  }
}

}  // namespace codeflare::controllers
