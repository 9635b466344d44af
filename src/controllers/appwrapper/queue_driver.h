#pragma once

#include "base/async/channel.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/env.h"
#include "base/log.h"
#include "base/text_map.h"
#include "controllers/appwrapper/queue_metrics.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "controllers/appwrapper/write_pace.h"
#include "controllers/submitter/submitter.h"
#include "kube/client.h"
#include "queue/adopted_pods.h"
#include "queue/queue.h"
#include "runtime/cache.h"
#include "runtime/manager.h"

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers {

struct DriverOptions {
  queue::QueueOptions queue{};
  SubmitterTrust submitters{};  // with queue.user_check
  std::vector<model::WrapperApi> apis = {model::WrapperApi::workload_v1beta1};
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

// Feeds a Queue from caches, lets it decide whenever something changed, wakes those whose standing
// is another one, and binds pods. Decides nothing itself. While others lead it does nothing: the
// Queue begins with what the caches show at the start of run(), once they show all that was written
// before.
class QueueDriver {
 public:
  QueueDriver(Env env, kube::Client& client, runtime::Cache& cache, QueueMetrics& metrics,
              DriverOptions options);
  QueueDriver(const QueueDriver&) = delete;
  QueueDriver& operator=(const QueueDriver&) = delete;
  ~QueueDriver();

  // Who reconciles AppWrappers; before run().
  void set_waker(model::WrapperApi api, runtime::Waker waker);
  // Called after each round of decisions.
  void on_decided(std::function<void()> callback) { on_decided_ = std::move(callback); }

  // Until stopped.
  Task<void> run();
  // The queue knows all there is: standings mean something.
  bool active() const { return active_; }

  const queue::Queue& queue() const { return queue_; }
  const WrapperPods& pods() const { return pods_; }
  // Why an AppWrapper cannot be understood; empty when it can.
  std::string problem(const std::string& uid) const;

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
  void wake(const std::string& uid);

 private:
  struct Known {
    model::ObjectKey key;
    model::WrapperApi api = model::WrapperApi::workload_v1beta1;
  };

  void watch(const model::ResourceType& type, runtime::InformerOptions options,
             std::function<void(const runtime::ObjectChange&)> handler);
  void cancel_timers();
  Task<bool> all_synced();
  std::string not_synced() const;
  void feed();
  void app_wrapper_changed(model::WrapperApi api, const runtime::ObjectChange& change);
  void check_submitter(model::AppWrapper& wrapper) const;
  void forget(const std::string& uid);
  void pod_gone(const kube::Object& pod);
  void pod_changed(const runtime::ObjectChange& change);
  void node_changed(const runtime::ObjectChange& change);
  void quota_changed(const runtime::ObjectChange& change);
  void resource_quota_changed(const runtime::ObjectChange& change);
  void pause_changed(const runtime::ObjectChange& change);

  Task<Result<void>> catch_up();
  Task<Result<void>> catch_up(runtime::Informer& informer, kube::ListOptions list);
  void hear(const std::vector<WrapperPods::News>& news);
  void wake(const PodOwner& owner);
  void wake_late();
  void nudge();
  Task<void> decide();
  void step();
  void tell(std::vector<queue::WrapperId> changed);
  std::size_t unfinished() const;
  bool server_is_slow() const;
  void release();
  void set_release_timer();
  // Those whose writing can wait, in order. One goes in each pause however busy it is, the rest
  // while less than `enough` is unfinished and the server is quick. Who is not in the set any more
  // is passed over.
  struct Line {
    std::size_t enough;
    Duration pause;
    std::deque<std::string> uids{};
    TextSet waiting{};
    Instant due{};  // one of them goes then

    // Whether it was not in line before.
    bool add(const std::string& uid, Instant now);
  };
  // Lets those go whose turn it is; `go` says whether it had anywhere to go.
  void release(Line& line, const std::function<bool(const std::string& uid)>& go);
  void set_wake_timer(std::optional<WallTime> when);
  Task<void> bind_pods();
  Task<void> bind(queue::Binding binding);
  Task<void> look_after(queue::Binding binding);
  Task<void> tell_unplaced_pods();

  Env env_;
  kube::Client& client_;
  runtime::Cache& cache_;
  QueueMetrics& metrics_;
  DriverOptions options_;
  Logger logger_;
  queue::Queue queue_;
  queue::AdoptedPods adopted_;
  WrapperPods pods_;
  runtime::Informer& pause_;

  struct Source {
    runtime::Informer* informer;
    kube::ListOptions list;  // what it watches
    std::function<void(const runtime::ObjectChange&)> handler;
  };
  std::vector<Source> sources_;  // in the order of feeding
  TextMap<Known> known_;         // AppWrappers by uid
  TextMap<std::string> problems_;
  std::map<model::WrapperApi, runtime::Waker> wakers_;
  std::function<void()> on_decided_;

  bool active_ = false;
  bool dirty_ = false;
  bool release_due_ = false;
  WaitList changed_;
  std::optional<TimerId> wake_timer_;
  std::optional<TimerId> release_timer_;
  // Whose pods changed in a way that decides nothing: told together after a moment.
  std::set<PodOwner> late_;
  std::optional<TimerId> late_timer_;
  // Refusals to be written: they come after all that starts or stops, however many they are.
  Line refused_;
  // Who has something to write that is only nice to know: they come after the refusals.
  Line idle_;
  // Pods of no AppWrapper for which no node was found.
  Line unplaced_;
  Channel<std::string> to_tell_;  // whose turn it is of those
  TextSet may_write_;             // was woken for it
  WritePace pace_;
  Channel<queue::Binding> bindings_;
  TaskGroup* work_ = nullptr;  // of run()
};

}  // namespace codeflare::controllers
