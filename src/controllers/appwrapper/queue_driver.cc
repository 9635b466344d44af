#include "controllers/appwrapper/queue_driver.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::controllers {

using queue::Standing;

namespace {

// The interval for work that can wait.
constexpr Duration kReleasePause = std::chrono::milliseconds(20);

FeedOptions feed_options(const DriverOptions& options) {
  return {.user_check = options.queue.user_check,
          .submitters = options.submitters,
          .apis = options.apis,
          .training_jobs = options.training_jobs,
          .quota_subtrees = options.quota_subtrees,
          .ns = options.ns,
          .trim = options.trim,
          .logger = options.logger};
}

}  // namespace

QueueDriver::QueueDriver(Env env, kube::Client& client, runtime::Cache& cache,
                         QueueMetrics& metrics, DriverOptions options)
    : env_(env),
      metrics_(metrics),
      logger_(options.logger),
      queue_(options.queue),
      wakes_(env.loop),
      binder_(env, client, queue_, metrics,
              {.in_flight = options.bindings_in_flight,
               .events = options.events,
               .logger = options.logger,
               .changed = [this] { nudge(); }}),
      feed_(env.clock, client, cache, queue_, *this, feed_options(options)) {}

// Pods are heard of until the informers end, which may be after run().
QueueDriver::~QueueDriver() {
  cancel_timers();
}

void QueueDriver::cancel_timers() {
  wakes_.cancel();
  for (std::optional<TimerId>* timer : {&wake_timer_, &release_timer_}) {
    if (*timer) {
      env_.loop.cancel_timer(**timer);
      timer->reset();
    }
  }
}

void QueueDriver::set_waker(model::WrapperApi api, runtime::Waker waker) {
  wakes_.set_waker(api, std::move(waker));
}

void QueueDriver::set_training(queue::TrainingOptions training) {
  queue_.set_training(std::move(training));
  nudge();
}

void QueueDriver::block(queue::Reason why, std::string sentence) {
  queue_.block(why, std::move(sentence));
  for (const queue::WorkId& id : wakes_.ids()) {
    wakes_.wake(id);
  }
  nudge();
}

Task<void> QueueDriver::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  if (co_await feed_.caught_up()) {
    fill();
    binder_.start(group);
    group.spawn(decide());
  }
  co_await group.join();
  cancel_timers();
}

void QueueDriver::fill() {
  feed_.fill();
  logger_.info("the queue starts",
               {{"appwrappers", wakes_.known()}, {"holding", queue_.running()}});
  for (const queue::WorkId& id : wakes_.ids()) {
    // The first step reports the others.
    if (queue_.kind(id.uid) == Standing::Kind::unknown) {
      wakes_.wake(id);
    }
  }
  nudge();
}

// --- what the feed tells ---

void QueueDriver::work_seen(const queue::WorkId& id) {
  wakes_.learn(id);
  if (active() && queue_.kind(id.uid) == Standing::Kind::unknown) {
    wakes_.wake(id);
  }
}

void QueueDriver::work_gone(const std::string& uid) {
  metrics_.gone(uid);
  writes_.forget(uid);
  wakes_.forget(uid);
}

void QueueDriver::pods_changed(const std::vector<WrapperPods::News>& news) {
  if (active()) {
    wakes_.wake(news);
  }
}

Result<queue::Report> QueueDriver::explain(const std::string& uid) {
  return queue::explain(queue_, uid, env_.clock.wall());
}

// --- the reconciler's calls ---

void QueueDriver::stopping(const std::string& uid) {
  queue_.stopping(uid);
  nudge();
}

void QueueDriver::withdrawn(const std::string& uid, std::optional<WallTime> not_before) {
  queue_.withdrawn(uid, env_.clock.wall(), not_before);
  feed_.pods().forget_trouble(uid);
  nudge();
}

void QueueDriver::plan_written(const std::string& uid,
                               const std::vector<model::PlannedPlace>& places) {
  if (queue_.plan_written(uid, places)) {
    nudge();
  }
}

void QueueDriver::remove(const std::string& uid) {
  queue_.remove(uid);
  feed_.pods().forget_trouble(uid);
  nudge();
}

void QueueDriver::item_seen(const std::string& uid, const kube::Object& item) {
  const Result<json::Document> parsed = item.parse();
  if (parsed && queue_.item_seen(uid, parsed->root)) {
    nudge();
  }
}

std::map<std::uint32_t, model::StringMap> QueueDriver::pod_annotations(
    const std::string& uid, const std::vector<model::PlannedPlace>& plan) const {
  std::map<std::uint32_t, model::StringMap> sets;
  for (const model::PlannedPlace& place : plan) {
    if (!pod_annotations_ || place.pod_set < 0) {
      continue;
    }
    for (const auto& [key, value] : pod_annotations_(uid, place.node)) {
      sets[static_cast<std::uint32_t>(place.pod_set)].insert_or_assign(key, value);
    }
  }
  return sets;
}

void QueueDriver::wrote(Duration took) {
  writes_.wrote(took, env_.loop.now());
}

bool QueueDriver::flooded() const {
  return writes_.flooded(wakes_.unfinished(), env_.loop.now());
}

bool QueueDriver::may_write_idly(const std::string& uid) {
  if (writes_.may_write_idly(uid, wakes_.unfinished(), env_.loop.now())) {
    return true;
  }
  set_release_timer();
  return false;
}

// --- deciding ---

void QueueDriver::nudge() {
  dirty_ = true;
  changed_.notify_all();
}

Task<void> QueueDriver::decide() {
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    while (!dirty_ && !release_due_) {
      if (!co_await changed_.wait()) {
        co_return;
      }
    }
    if (std::exchange(dirty_, false)) {
      step();
    }
    release();
    // Changes in this turn of the loop are decided together.
    co_await yield();
  }
}

void QueueDriver::step() {
  const Instant begin = env_.clock.now();
  queue::StepOutcome outcome = queue_.step(env_.clock.wall());
  metrics_.stepped(env_.clock.now() - begin);
  metrics_.depth(queue_.waiting(), queue_.running());
  tell(outcome.changed);
  for (queue::Binding& binding : outcome.bindings) {
    binder_.bind(std::move(binding));
  }
  for (const std::string& uid : outcome.unplaced) {
    writes_.add_unplaced(uid, env_.loop.now());
  }
  set_wake_timer(outcome.wake_at);
  dirty_ = dirty_ || outcome.more;
  if (on_waiting_ && on_waiting_(queue_, env_.clock.wall())) {
    dirty_ = true;
  }
  if (on_decided_) {
    on_decided_();
  }
}

void QueueDriver::tell(const std::vector<queue::WorkId>& changed) {
  for (const queue::WorkId& id : changed) {
    if (queue_.kind(id.uid) != Standing::Kind::waiting) {
      wakes_.wake(id);
    } else {
      writes_.add_refusal(id.uid, env_.loop.now());
    }
  }
}

void QueueDriver::release() {
  release_due_ = false;
  const auto refusal = [this](const std::string& uid) {
    const bool waits = queue_.kind(uid) == Standing::Kind::waiting;
    if (waits) {
      wakes_.wake(uid);
    }
    return waits;
  };
  const auto unplaced = [this](const std::string& uid) { return binder_.tell_unplaced(uid); };
  const auto idle = [this](const std::string& uid) {
    wakes_.wake(uid);
    return wakes_.knows(uid);
  };
  writes_.release(env_.loop.now(), [this] { return wakes_.unfinished(); },
                  {.refusal = refusal, .unplaced = unplaced, .idle = idle});
  if (!writes_.empty()) {
    set_release_timer();
  }
}

void QueueDriver::set_release_timer() {
  if (!release_timer_) {
    release_timer_ = env_.loop.start_timer(after(env_.loop.now(), kReleasePause), [this] {
      release_timer_.reset();
      release_due_ = true;
      changed_.notify_all();
    });
  }
}

void QueueDriver::set_wake_timer(std::optional<WallTime> when) {
  if (wake_timer_) {
    env_.loop.cancel_timer(*wake_timer_);
    wake_timer_.reset();
  }
  if (when) {
    const Duration delay = std::max(*when - env_.clock.wall(), Duration::zero());
    wake_timer_ = env_.loop.start_timer(after(env_.loop.now(), delay), [this] {
      wake_timer_.reset();
      nudge();
    });
  }
}

}  // namespace codeflare::controllers
