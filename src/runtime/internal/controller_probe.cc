#include "runtime/internal/controller_probe.h"

namespace codeflare::runtime::internal {

namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::shared_ptr<ControllerProbe> ControllerProbe::attach(MetricsRegistry& metrics,
                                                         const std::string& name, WorkQueue& queue,
                                                         int workers) {
  auto probe = std::make_shared<ControllerProbe>(metrics, name, queue, workers);
  queue.set_observer(probe.get());
  metrics.on_expose([weak = std::weak_ptr(probe)] {
    if (auto alive = weak.lock()) {
      alive->refresh();
    }
  });
  return probe;
}

ControllerProbe::ControllerProbe(MetricsRegistry& metrics, const std::string& name,
                                 WorkQueue& queue, int workers)
    : queue_(queue),
      adds_(metrics.counters("workqueue_adds_total", "Keys added.", {"name", "controller"})
                .with({name, name})),
      retries_(metrics.counters("workqueue_retries_total", "Retries.", {"name", "controller"})
                   .with({name, name})),
      queue_seconds_(metrics
                         .histograms("workqueue_queue_duration_seconds",
                                     "How long a key waits for a worker.", {"name", "controller"},
                                     exponential_buckets(1e-8, 10, 12))
                         .with({name, name})),
      work_seconds_(metrics
                        .histograms("workqueue_work_duration_seconds",
                                    "How long a worker has a key.", {"name", "controller"},
                                    exponential_buckets(1e-8, 10, 12))
                        .with({name, name})),
      depth_(metrics.gauges("workqueue_depth", "Keys that wait.", {"name", "controller"})
                 .with({name, name})),
      unfinished_(metrics
                      .gauges("workqueue_unfinished_work_seconds",
                              "Time spent on keys that workers have now.", {"name", "controller"})
                      .with({name, name})),
      longest_(metrics
                   .gauges("workqueue_longest_running_processor_seconds",
                           "Time spent on the key that a worker has longest.",
                           {"name", "controller"})
                   .with({name, name})),
      success_(metrics
                   .counters("controller_runtime_reconcile_total", "Reconciles by result.",
                             {"controller", "result"})
                   .with({name, "success"})),
      requeue_after_(metrics
                         .counters("controller_runtime_reconcile_total", "Reconciles by result.",
                                   {"controller", "result"})
                         .with({name, "requeue_after"})),
      error_(metrics
                 .counters("controller_runtime_reconcile_total", "Reconciles by result.",
                           {"controller", "result"})
                 .with({name, "error"})),
      errors_(metrics
                  .counters("controller_runtime_reconcile_errors_total", "Failed reconciles.",
                            {"controller"})
                  .with({name})),
      timeouts_(metrics
                    .counters("controller_runtime_reconcile_timeouts_total",
                              "Reconciles that took too long.", {"controller"})
                    .with({name})),
      reconcile_seconds_(metrics
                             .histograms("controller_runtime_reconcile_time_seconds",
                                         "How long a reconcile takes.", {"controller"})
                             .with({name})),
      active_(metrics
                  .gauges("controller_runtime_active_workers", "Workers that have a key.",
                          {"controller"})
                  .with({name})) {
  metrics.gauges("controller_runtime_max_concurrent_reconciles", "Workers.", {"controller"})
      .with({name})
      .set(workers);
  metrics
      .counters("controller_runtime_terminal_reconcile_errors_total",
                "Failed reconciles that are not tried again.", {"controller"})
      .with({name});
  metrics
      .counters("controller_runtime_reconcile_panics_total", "Reconciles that panicked.",
                {"controller"})
      .with({name});
}

void ControllerProbe::taken(Duration waited) {
  queue_seconds_.observe(seconds(waited));
}

void ControllerProbe::finished(Duration worked) {
  work_seconds_.observe(seconds(worked));
}

void ControllerProbe::reconciled(Outcome outcome, Duration took) {
  reconcile_seconds_.observe(seconds(took));
  switch (outcome) {
    case Outcome::success:
      success_.add();
      break;
    case Outcome::requeue_after:
      requeue_after_.add();
      break;
    case Outcome::error:
      error_.add();
      errors_.add();
      break;
  }
}

void ControllerProbe::refresh() {
  depth_.set(static_cast<double>(queue_.depth()));
  unfinished_.set(seconds(queue_.unfinished_work()));
  longest_.set(seconds(queue_.longest_running()));
  active_.set(static_cast<double>(queue_.in_work()));
}

}  // namespace codeflare::runtime::internal
