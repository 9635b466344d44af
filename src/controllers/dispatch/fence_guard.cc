#include "controllers/dispatch/fence_guard.h"

#include "base/async/sleep.h"
#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/marks.h"
#include "model/app_wrapper.h"
#include "model/managed_cluster.h"
#include "queue/marks.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::dispatch {

using runtime::ObjectChange;

namespace {

const model::ResourceType kLeases{"coordination.k8s.io", "v1", "Lease", "leases", true};

// It has a fence and may run, now or after a release.
bool is_guarded(const model::AppWrapper& copy) {
  return fence_of(copy.metadata) && !is_fenced(copy.metadata) && !copy.metadata.deleting() &&
         !model::is_terminal(copy.status);
}

}  // namespace

FenceGuard::FenceGuard(runtime::Manager& manager, queue::WorkKind kind, GuardOptions options)
    : manager_(manager),
      env_(manager.env()),
      options_(std::move(options)),
      kind_(kind),
      works_(manager.cache().informer(copy_type(kind))) {
  works_.add_handler([this](const ObjectChange& change) { copy_changed(change); });
}

void FenceGuard::copy_changed(const ObjectChange& change) {
  const kube::Object& object = change.now != nullptr ? *change.now : *change.old;
  if (change.now == nullptr || object.labels_json().find(kCopyLabel) == std::string_view::npos) {
    copies_.erase(object.key());
    return;
  }
  const Result<model::AppWrapper> copy = read_without_spec(object, kind_);
  if (!copy || !is_guarded(*copy)) {
    copies_.erase(object.key());
    return;
  }
  copies_[object.key()] = {*fence_of(copy->metadata), mark_of(copy->metadata).hub};
  changed_.notify_all();
}

Task<void> FenceGuard::run() {
  if (!co_await works_.wait_synced()) {
    co_return;
  }
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    if (copies_.empty()) {
      renewals_.clear();
      unread_.clear();
      if (!co_await changed_.wait()) {
        break;
      }
      continue;
    }
    co_await look();
    co_await stop_expired();
    if (!co_await sleep_for(options_.look_every)) {
      break;
    }
  }
}

Task<void> FenceGuard::look() {
  std::map<Whose, Renewals> kept;
  for (const auto& [key, copy] : copies_) {
    const Whose whose{copy.fence.lease, copy.hub};
    const auto known = renewals_.find(whose);
    kept.try_emplace(whose, known != renewals_.end() ? known->second : Renewals(env_.clock.now()));
  }
  // Of a Lease that nobody looked at meanwhile nothing is known.
  renewals_ = std::move(kept);
  std::vector<Whose> all;
  for (const auto& [whose, renewals] : renewals_) {
    all.push_back(whose);
  }
  for (Whose& each : all) {
    co_await look_at(std::move(each));
  }
}

Task<void> FenceGuard::look_at(Whose whose) {
  const Instant sent = env_.clock.now();
  const std::string ns(queue::kControllerNamespace);
  auto asking = manager_.client().get(kLeases, {ns, whose.first});
  const Result<kube::ObjectRef> lease =
      co_await with_timeout(options_.look_timeout, "Lease of a hub", std::move(asking));
  if (!lease && lease.error().code != ErrorCode::not_found) {
    if (lease.error().code != ErrorCode::cancelled && unread_.insert(whose).second) {
      options_.logger.warn("cannot read the Lease of a hub",
                           {{"lease", ns + "/" + whose.first}, {"error", lease.error()}});
    }
    co_return;
  }
  unread_.erase(whose);
  std::string renewal;
  if (lease && (*lease)->string_at({"spec", "holderIdentity"}) == whose.second) {
    renewal = (*lease)->string_at({"spec", "renewTime"});
  }
  if (const auto at = renewals_.find(whose); at != renewals_.end()) {
    at->second.seen(sent, renewal);
  }
}

Task<void> FenceGuard::stop_expired() {
  const Instant now = env_.clock.now();
  std::vector<model::ObjectKey> expired;
  for (const auto& [key, copy] : copies_) {
    const auto at = renewals_.find({copy.fence.lease, copy.hub});
    if (at != renewals_.end() && at->second.expired(now, copy.fence.lost_after)) {
      expired.push_back(key);
    }
  }
  std::ranges::sort(expired);
  for (const model::ObjectKey& key : expired) {
    const Result<void> stopped = co_await stop(key);
    if (!stopped && stopped.error().code != ErrorCode::cancelled) {
      options_.logger.warn("cannot stop a copy of a hub that is silent",
                           {{"object", key.to_string()}, {"error", stopped.error()}});
    }
  }
}

Task<Result<void>> FenceGuard::stop(model::ObjectKey key) {
  CO_TRY_ASSIGN(const kube::ObjectRef object,
                co_await manager_.client().get(copy_type(kind_), key));
  CO_TRY_ASSIGN(const model::AppWrapper copy, read_without_spec(*object, kind_));
  if (!is_guarded(copy)) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(
      const kube::ObjectRef written,
      co_await manager_.client().patch(copy_type(kind_), key, kube::PatchKind::merge,
                                       fence_patch(copy.metadata, kind_, env_.clock.wall())));
  works_.note_written(*written);
  copies_.erase(key);
  options_.logger.warn(
      "copy stopped: its hub has been silent for too long",
      {{"object", key.to_string()},
       {"fence", model::find_or_empty(copy.metadata.annotations, kFenceAnnotation)}});
  co_return Result<void>();
}

void add_fence_guard(runtime::Manager& manager, GuardOptions options) {
  for (const WorkKind kind : kCopyKinds) {
    if (kind == WorkKind::training_job && !options.training_jobs) {
      continue;
    }
    const auto guard = std::make_shared<FenceGuard>(manager, kind, options);
    manager.add_work([guard] { return guard->run(); });
  }
}

}  // namespace codeflare::controllers::dispatch
