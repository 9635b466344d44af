#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/log.h"
#include "runtime/informer.h"
#include "runtime/map_function.h"
#include "runtime/predicate.h"
#include "runtime/reconciler.h"
#include "runtime/work_queue.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare {
class MetricsRegistry;
}

namespace codeflare::runtime {

namespace internal {
class ControllerProbe;
}

struct ControllerOptions {
  std::string name;
  int workers = 1;
  WorkQueueOptions queue;
  // One reconcile may take this long; zero: as long as it wants.
  Duration reconcile_timeout{0};
  // After a stop, reconciles under way may go on this long before they are cancelled.
  Duration shutdown_grace = std::chrono::seconds(30);
  Logger logger{};
  MetricsRegistry* metrics = nullptr;  // controller_runtime_* and workqueue_*
};

// Watches caches, keeps a queue of keys, and lets workers reconcile them. ControllerBuilder makes
// one in three lines.
class Controller {
 public:
  Controller(Env env, ControllerOptions options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Wiring, before run().
  void watch(Informer& informer, MapFunction map, Predicate predicate = {});
  void set_reconciler(std::unique_ptr<Reconciler> reconciler);

  // Waits for the caches, then works until stopped: no new keys after that, and the reconciles
  // under way end first, within the grace. `abort` cancels them at once.
  Task<void> run(StopToken abort = {});

  const std::string& name() const { return options_.name; }
  WorkQueue& queue() { return queue_; }
  Reconciler& reconciler() { return *reconciler_; }

 private:
  Task<void> work(StopToken hard_stop);
  Task<void> handle(ObjectKey key);
  void report(const ObjectKey& key, const Result<Next>& next, Duration took);

  Env env_;
  ControllerOptions options_;
  WorkQueue queue_;
  std::shared_ptr<internal::ControllerProbe> probe_;  // null without metrics
  std::unique_ptr<Reconciler> reconciler_;
  std::vector<Informer*> informers_;
};

}  // namespace codeflare::runtime
