#include "controllers/dispatch/cluster_links.h"
#include "controllers/status_patch.h"
#include "model/codec/managed_cluster.h"
#include "queue/resources.h"

#include <algorithm>
#include <utility>

// The status of ManagedClusters, and the finalizer that keeps one while work is there.
namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;
using model::ManagedCluster;
using model::ManagedClusterStatus;

namespace {

// A time alone is written this often.
constexpr Duration kSeenEvery = std::chrono::seconds(30);

model::Condition connected(const Worker* worker, bool fed, std::int64_t generation) {
  model::Condition condition{.type = std::string(mc::kConnected),
                             .status = "False",
                             .reason = std::string(mc::kReasonConnecting),
                             .observed_generation = generation};
  if (worker == nullptr) {
    return condition;
  }
  condition.reason = worker->state().reason;
  condition.message = worker->state().message;
  if (worker->state().connected && fed) {
    condition.status = "True";
  } else if (worker->state().connected) {
    condition.reason = mc::kReasonConnecting;
    condition.message = "reading nodes, pods and AppWrappers";
  }
  return condition;
}

}  // namespace

ManagedClusterStatus ClusterLinks::status_of(const Record& record) const {
  const ManagedCluster& object = *record.object;
  ManagedClusterStatus status = object.status;
  const Worker* worker = record.worker.get();
  const model::Condition condition = connected(worker, record.fed, object.metadata.generation);
  model::set_condition(status.conditions, condition,
                       model::Time{std::chrono::floor<std::chrono::seconds>(env_.clock.wall())});
  status.observed_generation = object.metadata.generation;
  status.dispatched =
      static_cast<std::int64_t>(driver_->queue().held_in(object.metadata.name).size());
  status.waiting =
      std::ranges::count_if(record.copies, [](const auto& copy) { return copy.second.waiting; });
  status.fence = record.fence ? codeflare::to_text(*record.fence) : record.met ? "" : status.fence;
  if (worker != nullptr && !worker->server().empty()) {
    status.server = worker->server();
  }
  if (worker == nullptr || !worker->usable() || !record.fed) {
    return status;  // the rest is as it was last seen
  }
  const queue::Queue::NodeTotals totals = driver_->queue().totals(object.metadata.name);
  status.nodes = totals.nodes;
  status.capacity = queue::to_resource_list(totals.capacity);
  status.free = queue::to_resource_list(totals.free);
  status.version = worker->version();
  status.cluster_id = worker->id();
  if (worker->last_seen()) {
    const bool due = !status.last_seen || *worker->last_seen() - *status.last_seen >= kSeenEvery;
    if (due || status != object.status) {
      status.last_seen = *worker->last_seen();
    }
  }
  return status;
}

Task<void> ClusterLinks::keep_status() {
  if (!driver_->active()) {
    co_return;
  }
  std::vector<std::string> names;
  for (const auto& [name, record] : records_) {
    if (record.object) {
      names.push_back(name);
    }
    if (metrics_ != nullptr && record.worker != nullptr) {
      metrics_->seen(name, record.worker->usable(), record.worker->round_trip(),
                     record.copies.size());
    }
  }
  for (const std::string& name : names) {
    warn_of(name, co_await write_status(name));
    warn_of(name, co_await keep_finalizer(name));
  }
}

void ClusterLinks::warn_of(const std::string& name, const Result<void>& done) {
  if (!done && done.error().code != ErrorCode::cancelled &&
      done.error().code != ErrorCode::conflict && done.error().code != ErrorCode::not_found) {
    logger_.warn("cannot write a ManagedCluster", {{"object", name}, {"error", done.error()}});
  }
}

Task<Result<void>> ClusterLinks::write_status(std::string name) {
  Record& record = records_[name];
  const ManagedClusterStatus status = status_of(record);
  if (status == record.object->status) {
    co_return Result<void>();
  }
  std::string body = status_patch(*record.object, status);
  CO_TRY_ASSIGN(
      const kube::ObjectRef written,
      co_await manager_.client().patch(managed_.type(), {"", name}, kube::PatchKind::merge,
                                       std::move(body), {.subresource = "status"}));
  managed_.note_written(*written);
  note_object(name, *written);
  co_return Result<void>();
}

// The object as it is now, told to the queue at once: a plan may be made at any time. False: the
// record is of another object.
bool ClusterLinks::note_object(const std::string& name, const kube::Object& object) {
  const auto at = records_.find(name);
  Result<ManagedCluster> now = object.as<ManagedCluster>();
  if (!now || at == records_.end() || !at->second.object ||
      at->second.object->metadata.uid != now->metadata.uid) {
    return false;
  }
  take_object(at->second, *std::move(now));
  tell_clusters();
  return true;
}

// On before the first plan there; off when nothing has a plan there any more.
Task<Result<void>> ClusterLinks::keep_finalizer(std::string name) {
  CO_TRY(co_await managed_.fresh({"", name}));
  const kube::ObjectRef object = managed_.store().get("", name);
  if (object == nullptr) {
    co_return Result<void>();
  }
  if (!note_object(name, *object)) {
    co_return Result<void>();  // another one of this name: it is taken up first
  }
  const bool on = finalizer_.on(*object);
  const bool held = !driver_->queue().held_in(name).empty();
  if (object->deleting() ? !on || held : on) {
    co_return Result<void>();
  }
  runtime::Action change = object->deleting() ? finalizer_.remove(*object, "no work is left there")
                                              : finalizer_.add(*object, "work may be sent there");
  CO_TRY_ASSIGN(const kube::ObjectRef written,
                co_await manager_.client().patch(managed_.type(), {"", name},
                                                 kube::PatchKind::merge, std::move(change.body)));
  managed_.note_written(*written);
  note_object(name, *written);
  co_return Result<void>();
}

}  // namespace codeflare::controllers::dispatch
