#pragma once

#include "base/metrics.h"
#include "runtime/reconciler.h"
#include "runtime/work_queue.h"

#include <memory>
#include <string>

namespace codeflare::runtime::internal {

enum class Outcome : std::uint8_t { success, requeue_after, error };

// The numbers of one controller under the names that controller-runtime's dashboards know. Two of
// them stay 0 here, for the alerts that look at them: no reconcile gives up for good (terminal
// errors), and what would be a panic there ends the process here.
class ControllerProbe final : public WorkQueue::Observer {
 public:
  // Also refreshes the gauges of `queue` whenever the registry is read, as long as the probe lives.
  static std::shared_ptr<ControllerProbe> attach(MetricsRegistry& metrics, const std::string& name,
                                                 WorkQueue& queue, int workers);

  void added() override { adds_.add(); }
  void retried() override { retries_.add(); }
  void taken(Duration waited) override;
  void finished(Duration worked) override;

  void reconciled(Outcome outcome, Duration took);
  void timed_out() { timeouts_.add(); }

  ControllerProbe(MetricsRegistry& metrics, const std::string& name, WorkQueue& queue, int workers);

 private:
  void refresh();

  WorkQueue& queue_;
  Counter& adds_;
  Counter& retries_;
  Histogram& queue_seconds_;
  Histogram& work_seconds_;
  Gauge& depth_;
  Gauge& unfinished_;
  Gauge& longest_;
  Counter& success_;
  Counter& requeue_after_;
  Counter& error_;
  Counter& errors_;
  Counter& timeouts_;
  Histogram& reconcile_seconds_;
  Gauge& active_;
};

}  // namespace codeflare::runtime::internal
