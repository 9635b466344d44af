#include "runtime/controller.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/check.h"
#include "runtime/internal/controller_probe.h"

#include <utility>

namespace codeflare::runtime {

Controller::Controller(Env env, ControllerOptions options)
    : env_(env), options_(std::move(options)), queue_(env, options_.queue) {
  if (options_.metrics != nullptr) {
    probe_ = internal::ControllerProbe::attach(*options_.metrics, options_.name, queue_,
                                               options_.workers);
  }
}

Controller::~Controller() = default;

void Controller::watch(Informer& informer, MapFunction map, Predicate predicate) {
  informers_.push_back(&informer);
  if (!map) {
    return;
  }
  informer.add_handler(
      [this, map = std::move(map), predicate = std::move(predicate)](const ObjectChange& change) {
        if (predicate && !predicate(change)) {
          return;
        }
        // Both sides: a change of owner or label concerns the old one too.
        std::vector<ObjectKey> keys;
        if (change.old != nullptr) {
          map(*change.old, keys);
        }
        const std::size_t before = keys.size();
        if (change.now != nullptr) {
          map(*change.now, keys);
        }
        for (std::size_t i = 0; i < keys.size(); ++i) {
          // Mostly both sides concern the same ones.
          const bool twin = i >= before && i - before < before && keys[i - before] == keys[i];
          if (!twin) {
            queue_.add(keys[i]);
          }
        }
      });
}

void Controller::set_reconciler(std::unique_ptr<Reconciler> reconciler) {
  reconciler_ = std::move(reconciler);
}

Task<void> Controller::run(StopToken abort) {
  CHECK(reconciler_ != nullptr);
  const TaskContext& context = co_await current_context();
  for (Informer* informer : informers_) {
    if (!co_await informer->wait_synced()) {
      co_return;
    }
  }
  // A stop ends the workers' waits for keys at once; what they are doing gets the grace.
  StopSource hard(abort);
  std::optional<TimerId> grace;
  StopCallback on_stop(context.stop, [&] {
    grace = env_.loop.start_timer(after(env_.loop.now(), options_.shutdown_grace),
                                  [&] { hard.request_stop(); });
  });
  TaskGroup workers(*context.loop, context.stop);
  for (int i = 0; i < options_.workers; ++i) {
    workers.spawn(work(hard.token()));
  }
  co_await workers.join();
  if (grace) {
    env_.loop.cancel_timer(*grace);
  }
}

Task<void> Controller::work(StopToken hard_stop) {
  TaskContext reconciling{&env_.loop, std::move(hard_stop)};
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    Result<ObjectKey> key = co_await queue_.take();
    if (!key) {
      co_return;
    }
    ObjectKey taken = *key;
    co_await handle(std::move(taken)).under(reconciling);
    queue_.done(*key);
  }
}

Task<void> Controller::handle(ObjectKey key) {
  const Instant begin = env_.loop.now();
  auto reconciled = reconciler_->reconcile(key);
  Result<Next> next =
      options_.reconcile_timeout > Duration::zero()
          ? co_await with_timeout(options_.reconcile_timeout, "reconcile", std::move(reconciled))
          : co_await std::move(reconciled);
  report(key, next, env_.loop.now() - begin);
  if (!next) {
    if (next.error().code != ErrorCode::cancelled) {
      queue_.add_rate_limited(key);
    }
    co_return;
  }
  queue_.forget(key);
  if (next->delay()) {
    queue_.add_after(key, *next->delay());
  }
}

// Losing a race against another writer, or looking before our own cache caught up, is part of the
// work; all other failures are reported.
void Controller::report(const ObjectKey& key, const Result<Next>& next, Duration took) {
  if (probe_ != nullptr) {
    probe_->reconciled(!next           ? internal::Outcome::error
                       : next->delay() ? internal::Outcome::requeue_after
                                       : internal::Outcome::success,
                       took);
  }
  if (next) {
    options_.logger.debug("reconciled", {{"object", key.to_string()}, {"took", took}});
    return;
  }
  const ErrorCode code = next.error().code;
  const bool usual =
      code == ErrorCode::cancelled || code == ErrorCode::conflict || code == ErrorCode::unavailable;
  options_.logger.log(usual ? LogLevel::debug : LogLevel::warn, "reconcile failed",
                      {{"object", key.to_string()},
                       {"failures", queue_.failures(key) + 1},
                       {"error", next.error()}});
  if (probe_ != nullptr && code == ErrorCode::deadline_exceeded) {
    probe_->timed_out();
  }
}

}  // namespace codeflare::runtime
