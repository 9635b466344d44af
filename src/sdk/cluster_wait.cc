#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/human_duration.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "model/codec/ray_cluster.h"
#include "sdk/clusters.h"
#include "sdk/internal/followed.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

// Waiting for a Ray cluster: what the server has of it is followed by watches, and judged anew at
// each change.
namespace codeflare::sdk {

namespace {

using internal::Followed;
using internal::kLookAgain;
using internal::next_change;
using model::AppWrapper;
using model::ObjectKey;
using model::RayCluster;

// One wait. While an AppWrapper waits in the queue nothing else is watched.
class ClusterWatch {
 public:
  ClusterWatch(kube::Client& client, ObjectKey key, TaskGroup& group)
      : client_(client), key_(std::move(key)), group_(group) {}

  void follow_wrapper(std::string name) {
    start(wrapper_, {.ns = key_.ns, .field_selector = "metadata.name=" + name});
  }
  void follow_ray() {
    start(ray_, {.ns = key_.ns, .field_selector = "metadata.name=" + key_.name});
    start(pods_, {.ns = key_.ns, .label_selector = "ray.io/cluster=" + key_.name});
  }

  // The objects as of now; nothing until every kind was listed once.
  Result<std::optional<ClusterObjects>> look();
  WaitList& changed() { return changed_; }

 private:
  template <typename T>
  void start(std::unique_ptr<Followed<T>>& followed, kube::WatcherOptions options) {
    if (!followed) {
      followed = std::make_unique<Followed<T>>(client_, std::move(options), changed_);
      group_.spawn(followed->follow());
    }
  }

  kube::Client& client_;
  ObjectKey key_;
  TaskGroup& group_;
  WaitList changed_;
  std::unique_ptr<Followed<AppWrapper>> wrapper_;
  std::unique_ptr<Followed<RayCluster>> ray_;
  std::unique_ptr<Followed<model::Pod>> pods_;
};

Result<std::optional<ClusterObjects>> ClusterWatch::look() {
  for (const Error* error :
       {wrapper_ ? wrapper_->hindrance() : nullptr, ray_ ? ray_->hindrance() : nullptr}) {
    if (error != nullptr) {
      return fail(*error);
    }
  }
  const bool pods_unseen = pods_ && !pods_->synced() && pods_->hindrance() == nullptr;
  if ((wrapper_ && !wrapper_->synced()) || (ray_ && !ray_->synced()) || pods_unseen) {
    return std::optional<ClusterObjects>();
  }
  ClusterObjects objects;
  if (const AppWrapper* wrapper = wrapper_ ? wrapper_->first() : nullptr) {
    objects.wrapper = *wrapper;
  }
  if (const RayCluster* ray = ray_ ? ray_->first() : nullptr) {
    objects.ray = *ray;
  }
  if (pods_) {
    objects.pods = pods_->objects();
  }
  return std::optional<ClusterObjects>(std::move(objects));
}

// The end of a wait, or nothing as long as it goes on.
std::optional<Result<ClusterInfo>> verdict(const ObjectKey& key, const ClusterInfo& info,
                                           ClusterGoal goal) {
  const ClusterPhase phase = info.state.phase;
  const bool ended = phase == ClusterPhase::failed || phase == ClusterPhase::completed;
  if (goal == ClusterGoal::ready && phase == ClusterPhase::ready) {
    return info;
  }
  if (goal == ClusterGoal::finished && ended) {
    return info;
  }
  if (goal == ClusterGoal::ready && (ended || phase == ClusterPhase::deleting)) {
    return fail(failed_precondition("Ray cluster '" + key.name +
                                    "' will not become ready: " + progress_line(info.state)));
  }
  return std::nullopt;
}

Error stuck_error(const ObjectKey& key, const ClusterState& state, Duration patience) {
  return failed_precondition("Ray cluster '" + key.name + "' did not make progress for " +
                             human_duration(patience) + ": " + progress_line(state));
}

// How long a cluster has been stuck. A container that is started once more, to fail again, is not
// progress.
class StuckTime {
 public:
  Duration of(const ClusterState& state, Instant now) {
    const bool moved = state.phase != phase_ || state.head_ready != head_ready_ ||
                       state.workers_ready != workers_ready_;
    phase_ = state.phase;
    head_ready_ = state.head_ready;
    workers_ready_ = state.workers_ready;
    if (moved) {
      since_.reset();
    }
    if (state.stuck && !since_) {
      since_ = now;
    }
    return since_ ? now - *since_ : Duration();
  }
  bool any() const { return since_.has_value(); }

 private:
  ClusterPhase phase_ = ClusterPhase::queued;
  bool head_ready_ = false;
  std::int64_t workers_ready_ = 0;
  std::optional<Instant> since_;
};

// `shown` is the last state that was seen.
Task<Result<ClusterInfo>> watch_until(ClusterWatch& watch, ObjectKey key, ClusterInfo info,
                                      ClusterWait options, std::optional<ClusterState>& shown) {
  const TaskContext& context = co_await current_context();
  Loop& loop = *context.loop;
  StuckTime stuck_time;
  bool seen = false;  // the watches have told all once
  while (true) {
    if (shown != info.state) {
      shown = info.state;
      if (options.observer) {
        options.observer(info.state);
      }
    }
    if (auto end = verdict(key, info, options.goal)) {
      co_return *std::move(end);
    }
    const Duration stuck = stuck_time.of(info.state, loop.now());
    const bool counts = stuck_time.any() && options.goal == ClusterGoal::ready;
    if (counts && info.state.stuck && stuck >= options.stuck_patience) {
      co_return fail(stuck_error(key, info.state, options.stuck_patience));
    }
    if (!info.objects.wrapper || info.objects.wrapper->status.can_run || info.objects.ray) {
      watch.follow_ray();
    }
    const Duration patience = counts && stuck < options.stuck_patience
                                  ? options.stuck_patience - stuck
                                  : Duration(std::chrono::hours(1));
    CO_TRY(co_await next_change(watch.changed(), seen ? patience : kLookAgain));
    CO_TRY_ASSIGN(std::optional<ClusterObjects> objects, watch.look());
    if (!objects) {
      continue;
    }
    seen = true;
    if (!objects->wrapper && !objects->ray) {
      if (options.goal == ClusterGoal::ready) {
        co_return fail(not_found("Ray cluster '" + key.name + "' was deleted"));
      }
      co_return info;
    }
    info = cluster_info(*std::move(objects));
  }
}

}  // namespace

Task<Result<ClusterInfo>> Clusters::wait(ObjectKey key, ClusterWait options) {
  Result<ClusterInfo> now = co_await get(key);
  if (!now) {
    const bool gone =
        now.error().code == ErrorCode::not_found && options.goal == ClusterGoal::deleted;
    co_return gone ? Result<ClusterInfo>(ClusterInfo{.key = key}) : std::move(now);
  }
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  ClusterWatch watch(client_, key, group);
  if (now->objects.wrapper) {
    watch.follow_wrapper(now->wrapper);
  }
  const Duration timeout = options.timeout;
  const std::string what = options.goal == ClusterGoal::deleted    ? "was not deleted"
                           : options.goal == ClusterGoal::finished ? "did not finish"
                                                                   : "did not become ready";
  std::optional<ClusterState> last;
  Task<Result<ClusterInfo>> waiting =
      watch_until(watch, key, *std::move(now), std::move(options), last);
  Result<ClusterInfo> end =
      timeout > Duration()
          ? co_await with_timeout(timeout, "Ray cluster '" + key.name + "'", std::move(waiting))
          : co_await std::move(waiting);
  co_await group.close();
  if (!end && end.error().code == ErrorCode::deadline_exceeded) {
    co_return fail(deadline_exceeded("Ray cluster '" + key.name + "' " + what + " within " +
                                     human_duration(timeout) +
                                     (last ? ": " + progress_line(*last) : "")));
  }
  co_return end;
}

}  // namespace codeflare::sdk
