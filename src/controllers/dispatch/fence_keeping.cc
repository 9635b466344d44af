#include "base/go_duration.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/marks.h"

#include <algorithm>
#include <utility>

// The hub's side of fences (fence.h): its Lease on each worker, fences on copies, and when work of
// a silent worker may start elsewhere.
namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;
using model::AppWrapper;

namespace {

// Longer than any request that was sent before: what it releases has the fence of that time.
constexpr Duration kRequestsEnd = std::chrono::minutes(1);

bool may_run(const AppWrapper& copy) {
  return !model::is_terminal(copy.status) && !copy.metadata.deleting() && !is_fenced(copy.metadata);
}

std::optional<Duration> written_fence(const model::ManagedCluster& cluster) {
  return go_duration(cluster.status.fence);
}

std::optional<Duration> wanted_fence(const model::ManagedCluster& cluster) {
  return cluster.spec.on_lost == mc::kRedispatch ? std::optional(mc::lost_after(cluster.spec))
                                                 : std::nullopt;
}

}  // namespace

// The fence that copies get, never a longer one than the status says: the next process counts with
// that.
std::optional<Fence> ClusterLinks::fence_for(const std::string& cluster) const {
  const auto at = records_.find(cluster);
  if (at == records_.end() || !at->second.object) {
    return std::nullopt;
  }
  const std::optional<Duration> wanted = wanted_fence(*at->second.object);
  const std::optional<Duration> written = written_fence(*at->second.object);
  if (!wanted && !written) {
    return std::nullopt;
  }
  const Duration shorter = !wanted ? *written : !written ? *wanted : std::min(*wanted, *written);
  return Fence{hub_lease_name(cluster), shorter};
}

// A copy that is released without it would be stopped soon.
bool ClusterLinks::is_lease_fresh(const Record& record) const {
  const std::optional<Duration> wanted = wanted_fence(*record.object);
  if (!wanted || record.worker == nullptr) {
    return true;
  }
  const std::optional<Instant> renewed = record.worker->lease_renewed();
  return renewed && env_.clock.now() - *renewed < *wanted / 2;
}

bool ClusterLinks::has_fallen(const Record& record) const {
  if (!record.object || !wanted_fence(*record.object) || !record.fence) {
    return false;
  }
  if (record.worker != nullptr && record.worker->usable() && record.fed) {
    return false;
  }
  Instant tried = record.silent_from;
  if (record.worker != nullptr && record.worker->lease_tried()) {
    tried = std::max(tried, *record.worker->lease_tried());
  }
  return env_.clock.now() - tried >= *record.fence + fence_margin(*record.fence);
}

std::string ClusterLinks::why_given_up(std::string_view cluster) const {
  const auto at = records_.find(cluster);
  if (at == records_.end()) {
    return {};
  }
  const std::string name = "cluster " + std::string(cluster);
  if (is_declared_lost(cluster)) {
    return name + " is declared lost";
  }
  return has_fallen(at->second)
             ? name + " was silent for over " + codeflare::to_text(*at->second.fence) +
                   " and stopped its copy (onLost: Redispatch)"
             : std::string();
}

void ClusterLinks::look_at_silence(const std::string& name, Record& record) {
  const bool fallen = has_fallen(record);
  if (fallen && !record.fallen) {
    logger_.warn("work of a silent cluster is queued again",
                 {{"cluster", name}, {"fence", codeflare::to_text(*record.fence)}});
    if (metrics_ != nullptr) {
      for (std::size_t i = 0; i < driver_->queue().held_in(name).size(); ++i) {
        metrics_->redispatched(name);
      }
    }
    wake_work(name);
  }
  record.fallen = fallen;
  const bool silent = record.worker == nullptr || !record.worker->usable();
  if (!silent || !record.fence || !record.object || !wanted_fence(*record.object)) {
    record.redispatch_at.reset();
  } else if (!record.redispatch_at) {
    record.redispatch_at = std::chrono::floor<std::chrono::seconds>(env_.clock.wall()) +
                           *record.fence + fence_margin(*record.fence);
    wake_work(name);
  }
}

void ClusterLinks::keep_fences() {
  if (!driver_->active()) {
    return;
  }
  for (auto& [name, record] : records_) {
    look_at_silence(name, record);
    if (record.object && record.worker != nullptr) {
      keep_fence(name);
    }
  }
}

// The status says a fence once every copy has it: it is given to all first. A longer one is written
// there first.
void ClusterLinks::keep_fence(const std::string& name) {
  Record& record = records_[name];
  if (!record.met) {
    record.met = true;
    record.fence = written_fence(*record.object);
  }
  const std::optional<Fence> given = fence_for(name);
  const bool any = std::ranges::any_of(
      record.copies, [](const auto& copy) { return copy.second.fence && !copy.second.over; });
  record.worker->keep_lease(given || any);
  const std::optional<Duration> wanted = wanted_fence(*record.object);
  if (!wanted || (record.fence && *record.fence < *wanted)) {
    record.fence = wanted;
  }
  const bool unsure = wanted && record.fence != wanted;
  if (!unsure) {
    record.refencing.reset();
  }
  if (!is_usable(name)) {
    return;
  }
  const bool differs = std::ranges::any_of(record.copies, [&](const auto& copy) {
    return !copy.second.over && copy.second.fence != given;
  });
  if (!differs && !unsure) {
    return;
  }
  if (unsure && record.copies.empty() && driver_->queue().held_in(name).empty()) {
    record.fence = wanted;
    return;
  }
  // A copy that gets a fence before its Lease exists would be stopped soon, and all of them where
  // the worker does not let us write the Lease.
  if (!is_lease_fresh(record)) {
    return;
  }
  if (unsure && record.refencing != wanted) {
    record.refencing = wanted;
    record.refencing_since = env_.clock.now();
  }
  const bool due = unsure && env_.clock.now() - record.refencing_since >= kRequestsEnd;
  if (differs || due) {
    start_errand(name,
                 refence(name, wanted, due ? std::optional(record.refencing_since) : std::nullopt));
  }
}

// `due`: since when releases give this fence, long enough for all before to have ended. It counts
// unless the policy changed meanwhile, perhaps twice.
Task<void> ClusterLinks::refence(std::string name, std::optional<Duration> wanted,
                                 std::optional<Instant> due) {
  const Result<bool> all = co_await refence_copies(name);
  Record& record = records_[name];
  if (due && all && *all && record.object && wanted_fence(*record.object) == wanted &&
      record.refencing == wanted && record.refencing_since == *due) {
    record.fence = wanted;
    record.refencing.reset();
  }
}

// Whether all had it, as the server has them.
Task<Result<bool>> ClusterLinks::refence_copies(std::string name) {
  bool all = true;
  for (const WorkKind kind : kCopyKinds) {
    if (kind == WorkKind::training_job && !has_training(name)) {
      continue;  // the account may lack the right to list them
    }
    CO_TRY_ASSIGN(const bool had, co_await refence_copies_of(name, kind));
    all = all && had;
  }
  co_return all;
}

bool ClusterLinks::has_training(const std::string& cluster) const {
  const queue::Queue& queue = driver_->queue();
  return std::ranges::any_of(queue.held_in(cluster), [&](const std::string& uid) {
    const std::optional<queue::WorkId> id = queue.id(uid);
    return id && id->kind == WorkKind::training_job;
  });
}

Task<Result<bool>> ClusterLinks::refence_copies_of(std::string name, WorkKind kind) {
  const std::shared_ptr<kube::Client> there = client(name);
  const std::optional<Fence> given = fence_for(name);
  CO_TRY_ASSIGN(const kube::ObjectList copies,
                co_await there->list_all(copy_type(kind),
                                         {.label_selector = std::string(kCopyLabel) + "=" + hub_}));
  bool all = true;
  for (const kube::ObjectRef& object : copies.items) {
    const Result<AppWrapper> copy = read_without_spec(*object, kind);
    if (!copy || mark_of(copy->metadata).hub != hub_ || !may_run(*copy) ||
        fence_of(copy->metadata) == given) {
      continue;
    }
    all = false;
    if (!is_usable(name)) {
      break;
    }
    const Result<kube::ObjectRef> changed =
        co_await there->patch(copy_type(kind), copy->metadata.key(), kube::PatchKind::merge,
                              refence_patch(copy->metadata, given));
    if (!changed && changed.error().code != ErrorCode::conflict) {
      logger_.warn(
          "cannot change the fence of a copy",
          {{"cluster", name}, {"object", object->key().to_string()}, {"error", changed.error()}});
    }
  }
  co_return all;
}

}  // namespace codeflare::controllers::dispatch
