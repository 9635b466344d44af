#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "controllers/appwrapper/deferred_writes.h"
#include "controllers/appwrapper/pod_binder.h"
#include "controllers/appwrapper/queue_feed.h"
#include "controllers/appwrapper/queue_metrics.h"
#include "controllers/appwrapper/work_wakes.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "kube/client.h"
#include "queue/queue.h"
#include "queue/report.h"
#include "runtime/cache.h"
#include "runtime/manager.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::controllers {

struct DriverOptions {
  queue::QueueOptions queue{};
  SubmitterTrust submitters{};  // with queue.user_check
  std::vector<model::WrapperApi> apis = {model::WrapperApi::workload_v1beta1};
  bool training_jobs = false;  // TrainingJobs too; their CRD is installed
  bool quota_subtrees = true;  // their CRD is installed
  // Where the ConfigMap `codeflare-queue` may say `paused: "true"`.
  std::string ns = "default";
  // Keep of pods and nodes only what the queue needs. Off where other controllers of the same
  // manager need more.
  bool trim = true;
  std::size_t bindings_in_flight = 32;
  runtime::EventRecorder* events = nullptr;  // of pods without a place; may be null
  Logger logger{};
};

// Lets a Queue decide whenever its feed changed something, wakes those whose standing is another
// one, and hands pods to the binder. Decides nothing itself. While others lead it does nothing: the
// Queue begins with what the caches show at the start of run(), once they show all that was written
// before.
class QueueDriver : private QueueFeed::Listener {
 public:
  QueueDriver(Env env, kube::Client& client, runtime::Cache& cache, QueueMetrics& metrics,
              DriverOptions options);
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;
  ~QueueDriver() override;

  // The reconciler of AppWrappers; before run().
  void set_waker(model::WrapperApi api, runtime::Waker waker);
  void set_training_waker(runtime::Waker waker) { wakes_.set_training_waker(std::move(waker)); }
  // See queue::Queue.
  void set_training(queue::TrainingOptions training);
  // Everybody is woken: those that run may write again, those that wait say why.
  void block(queue::Reason why, std::string sentence);
  // Called after each round of decisions.
  void on_decided(std::function<void()> callback) { on_decided_ = std::move(callback); }

  // Called after each round with what still waits; true when it changed something in the queue.
  void on_waiting(std::function<bool(queue::Queue&, WallTime)> callback) {
    on_waiting_ = std::move(callback);
  }
  // Annotations for pods of the object with this UID, by a node that its plan names.
  using PodAnnotations =
      std::function<model::StringMap(const std::string& uid, const std::string& node)>;
  void set_pod_annotations(PodAnnotations annotations) {
    pod_annotations_ = std::move(annotations);
  }
  // By pod set.
  std::map<std::uint32_t, model::StringMap> pod_annotations(
      const std::string& uid, const std::vector<model::PlannedPlace>& plan) const;
  // Decides again soon: something outside of the caches changed.
  void reconsider() { nudge(); }

  // Until stopped.
  Task<void> run();
  // The queue knows all there is: standings mean something.
  bool active() const { return feed_.filled(); }

  const queue::Queue& queue() const { return queue_; }
  // Why an object waits, with numbers. Looks at every node and replays the line in a copy: for
  // people who ask, not for every status.
  Result<queue::Report> explain(const std::string& uid);
  // News of other clusters: changes the queue, which then decides again.
  void apply(const std::function<void(queue::Queue&)>& change) {
    change(queue_);
    nudge();
  }
  const WrapperPods& pods() const { return feed_.pods(); }
  // Why an AppWrapper cannot be understood; empty when it can.
  std::string problem(const std::string& uid) const { return feed_.problem(uid); }

  // The reconciler's calls; see queue::Queue.
  void stopping(const std::string& uid);
  void withdrawn(const std::string& uid, std::optional<WallTime> not_before);
  void plan_written(const std::string& uid, const std::vector<model::PlannedPlace>& places);
  void remove(const std::string& uid);
  void item_seen(const std::string& uid, const kube::Object& item);
  // Whether there is time for a write that nobody waits for. If not, the AppWrapper is woken when
  // there is.
  bool may_write_idly(const std::string& uid);
  // A write of ours took this long.
  void wrote(Duration took);
  // Starts and ends wait in numbers, for workers or for the server.
  bool flooded() const;
  // Wakes the AppWrapper with this UID, if there is one.
  void wake(const std::string& uid) { wakes_.wake(uid); }

 private:
  void work_seen(const queue::WorkId& id) override;
  void work_gone(const std::string& uid) override;
  void pods_changed(const std::vector<WrapperPods::News>& news) override;
  void changed() override { nudge(); }

  void cancel_timers();
  void fill();
  void nudge();
  Task<void> decide();
  void step();
  void tell(const std::vector<queue::WorkId>& changed);
  void release();
  void set_release_timer();
  void set_wake_timer(std::optional<WallTime> when);

  Env env_;
  QueueMetrics& metrics_;
  Logger logger_;
  queue::Queue queue_;
  WorkWakes wakes_;
  DeferredWrites writes_;
  PodBinder binder_;
  QueueFeed feed_;
  std::function<void()> on_decided_;
  std::function<bool(queue::Queue&, WallTime)> on_waiting_;
  PodAnnotations pod_annotations_;

  bool dirty_ = false;
  bool release_due_ = false;
  WaitList changed_;
  std::optional<TimerId> wake_timer_;
  std::optional<TimerId> release_timer_;
};

}  // namespace codeflare::controllers
