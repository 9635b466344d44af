#include "base/async/sleep.h"
#include "controllers/appwrapper/app_wrapper_object.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/copy_object.h"
#include "kube/ensure_namespace.h"
#include "kube/impersonation.h"
#include "model/codec/app_wrapper.h"

#include <algorithm>
#include <utility>

// Copies on workers: created, looked at, deleted, and found where they have no business. The order
// of writes and what each crash leaves behind: docs/decisions/0016-many-clusters.md.
namespace codeflare::controllers::dispatch {

namespace mc = model::managed_cluster;
using model::AppWrapper;

namespace {

// Create, look, release, and once more after a conflict.
constexpr int kStepsMax = 6;

// The server will say the same again.
bool is_refusal(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::permission_denied ||
         code == ErrorCode::failed_precondition || code == ErrorCode::too_large ||
         code == ErrorCode::unsupported;
}

// The end of the process does not count as an answer of a worker.
Result<void> not_cancelled(const Error& error) {
  return error.code == ErrorCode::cancelled ? Result<void>(fail(error)) : Result<void>();
}

bool is_connecting(const Worker& worker) {
  return worker.state().reason == mc::kReasonConnecting;
}

bool is_suspended(const AppWrapper& copy) {
  return copy.spec.suspend.value_or(false);
}

// A copy is not found any more only when nothing of it runs. The worker's finalizer sees to it for
// an AppWrapper; a TrainingJob has none, so its server has to wait for the pods.
std::string propagation_for(WorkKind kind) {
  return kind == WorkKind::training_job ? "Foreground" : "Background";
}

}  // namespace

bool is_stray(const std::optional<AppWrapper>& hub, std::string_view cluster,
              const AppWrapper& copy) {
  if (!hub || hub->metadata.uid != mark_of(copy.metadata).hub_uid) {
    return true;
  }
  if (hub->status.plan) {
    return remote_cluster(hub->status) != cluster;
  }
  // A finished copy stays for its logs.
  return !model::is_terminal(hub->status) || !model::is_terminal(copy.status);
}

bool ClusterLinks::is_ours(const AppWrapper& copy, const std::string& uid) const {
  const CopyMark mark = mark_of(copy.metadata);
  return mark.hub == hub_ && mark.hub_uid == uid;
}

bool ClusterLinks::is_usable(std::string_view cluster) const {
  const auto at = records_.find(cluster);
  return at != records_.end() && at->second.worker != nullptr && at->second.worker->usable() &&
         at->second.fed;
}

bool ClusterLinks::is_evicting(std::string_view cluster) const {
  const auto at = records_.find(cluster);
  return at != records_.end() && at->second.object && at->second.object->spec.paused &&
         at->second.object->spec.evict;
}

bool ClusterLinks::is_declared_lost(std::string_view cluster) const {
  const auto at = records_.find(cluster);
  return at != records_.end() && at->second.object && at->second.object->spec.lost;
}

// As its server has it; nothing when it has none.
Task<Result<std::optional<CopyObject>>> ClusterLinks::get_copy(std::shared_ptr<kube::Client> client,
                                                               WorkKind kind,
                                                               model::ObjectKey key) {
  const Result<kube::ObjectRef> found = co_await client->get(copy_type(kind), std::move(key));
  if (!found && found.error().code == ErrorCode::not_found) {
    co_return std::nullopt;
  }
  if (!found) {
    co_return fail(found.error());
  }
  CO_TRY_ASSIGN(CopyObject copy, read_copy_object(**found, kind));
  co_return std::optional(std::move(copy));
}

Task<Result<ClusterLinks::Way>> ClusterLinks::way_to(std::string cluster) {
  Result<CallSlots::Slot> slot = co_await slots_[cluster].take();
  if (!slot) {
    co_return fail(std::move(slot).error().with_context("cluster " + cluster));
  }
  if (!is_usable(cluster)) {
    co_return fail(unavailable(why_lost(cluster)));
  }
  co_return Way{client(cluster), *std::move(slot)};
}

// --- there ---

Result<kube::Impersonation> ClusterLinks::creator(const RemoteWork& work,
                                                  const model::ManagedClusterSpec& spec) const {
  if (spec.submitter == mc::kFixed) {
    return kube::Impersonation{.user = spec.fixed_user};
  }
  if (!options_.submitters) {
    return kube::Impersonation();
  }
  if (work.job != nullptr) {
    return fail(failed_precondition("nobody is recorded as the submitter of a TrainingJob"));
  }
  TRY_ASSIGN(Submitter submitter, submitter_of(work.wrapper, *options_.submitters));
  return kube::Impersonation{.user = std::move(submitter.username),
                             .uid = std::move(submitter.uid),
                             .groups = std::move(submitter.groups),
                             .extra = std::move(submitter.extra)};
}

// Write 2. Nothing: look again.
Task<Result<std::optional<Creation>>> ClusterLinks::make_copy(std::shared_ptr<kube::Client> client,
                                                              std::string cluster, RemoteWork work,
                                                              kube::ObjectRef object) {
  const WorkKind kind = kind_of(work);
  const std::string& uid = work.wrapper.metadata.uid;
  const std::string ns = work.wrapper.metadata.ns;
  const auto at = records_.find(cluster);
  if (at == records_.end() || !at->second.object) {
    co_return fail(unavailable("cluster " + cluster + " is not managed"));
  }
  const model::ManagedClusterSpec spec = at->second.object->spec;
  Result<kube::Impersonation> who = creator(work, spec);
  if (!who) {
    co_return Creation{Creation::Kind::refused, who.error().message};
  }
  const std::string user = who->user;
  CO_TRY_ASSIGN(std::string body, copy_body(*object, hub_, kind));
  const Result<kube::ObjectRef> made =
      co_await kube::create_as(*client, *std::move(who), copy_type(kind), ns, std::move(body));
  if (made || made.error().code == ErrorCode::already_exists) {
    co_return std::nullopt;
  }
  const Error error = made.error();
  if (error.code == ErrorCode::not_found && spec.namespaces == mc::kCreate) {
    Result<void> there = co_await kube::ensure_namespace(*client, ns);
    if (there) {
      co_return std::nullopt;
    }
    if (is_refusal(there.error().code)) {
      co_return rule_out(uid, cluster,
                         "cannot have namespace " + ns + ": " + there.error().message);
    }
    co_return fail(std::move(there).error());
  }
  if (error.code == ErrorCode::not_found) {
    co_return rule_out(uid, cluster, "has no namespace " + ns + " (" + error.message + ")");
  }
  if (error.code == ErrorCode::permission_denied) {
    co_return rule_out(uid, cluster,
                       "rejects " + (user.empty() ? std::string("the hub") : "user " + user) +
                           ": " + error.message);
  }
  if (is_refusal(error.code)) {
    co_return rule_out(uid, cluster,
                       "rejects the " + std::string(name_of(kind)) + ": " + error.message);
  }
  co_return fail(error);
}

Task<Result<Creation>> ClusterLinks::create(std::string cluster, RemoteWork work,
                                            kube::ObjectRef object) {
  const WorkKind kind = kind_of(work);
  const std::string uid = work.wrapper.metadata.uid;
  const model::ObjectKey key = work.wrapper.metadata.key();
  for (int i = 0; i < kStepsMax; ++i) {
    if (std::string why = why_given_up(cluster); !why.empty() && !is_usable(cluster)) {
      co_return Creation{Creation::Kind::elsewhere, std::move(why)};
    }
    if (is_declared_lost(cluster)) {
      co_return Creation{Creation::Kind::elsewhere, "cluster " + cluster + " is declared lost"};
    }
    if (is_evicting(cluster)) {
      co_return Creation{Creation::Kind::elsewhere, "cluster " + cluster + " is drained"};
    }
    if (!is_usable(cluster)) {
      co_return fail(unavailable(why_lost(cluster)));
    }
    CO_TRY_ASSIGN(const Way way, co_await way_to(cluster));
    const std::shared_ptr<kube::Client>& there = way.client;
    CO_TRY_ASSIGN(const std::optional<CopyObject> found, co_await get_copy(there, kind, key));
    if (!found) {
      CO_TRY_ASSIGN(std::optional<Creation> end, co_await make_copy(there, cluster, work, object));
      if (end) {
        co_return *std::move(end);
      }
      continue;
    }
    const AppWrapper& copy = found->wrapper;
    if (!is_ours(copy, uid)) {
      co_return rule_out(uid, cluster,
                         "has another " + std::string(name_of(kind)) + " " + key.to_string());
    }
    if (copy.metadata.deleting()) {
      co_return fail(unavailable("the copy of an earlier dispatch on cluster " + cluster +
                                 " is not gone yet"));
    }
    if (!is_suspended(copy)) {
      co_return Creation();
    }
    if (is_fenced(copy.metadata)) {
      co_return Creation{Creation::Kind::elsewhere,
                         "cluster " + cluster + " stopped it: the hub was silent for too long"};
    }
    const auto record = records_.find(cluster);
    if (record == records_.end() || !record->second.object || !is_lease_fresh(record->second)) {
      co_return fail(unavailable("the Lease of this hub on cluster " + cluster + " is not fresh"));
    }
    // Write 3. The UID and the version say that the copy is the one that was looked at.
    const Result<kube::ObjectRef> released =
        co_await there->patch(copy_type(kind), key, kube::PatchKind::merge,
                              release_patch(*found, work, fence_for(cluster)));
    if (released) {
      if (const auto now = records_.find(cluster);
          now != records_.end() && now->second.worker != nullptr) {
        if (runtime::Informer* copies = now->second.worker->copies(kind)) {
          copies->note_written(**released);
        }
        read_copy(now->second, **released, kind);
      }
      if (metrics_ != nullptr) {
        metrics_->dispatched(cluster);
      }
      co_return Creation();
    }
    if (released.error().code != ErrorCode::conflict &&
        released.error().code != ErrorCode::not_found) {
      co_return fail(released.error());
    }
  }
  co_return fail(unavailable("the copy on cluster " + cluster + " keeps changing"));
}

// --- as it is ---

std::string ClusterLinks::why_lost(const std::string& cluster) const {
  const auto at = records_.find(cluster);
  if (at == records_.end() || !at->second.object) {
    return "cluster " + cluster + " is not a ManagedCluster any more";
  }
  const Record& record = at->second;
  std::optional<WallTime> since = record.lost_since;
  if (!since && record.object->status.last_seen) {
    since = *record.object->status.last_seen;
  }
  return "cluster " + cluster + " is not connected" +
         (since ? " since " + to_rfc3339(*since) : std::string()) + "; its nodes stay reserved" +
         (record.redispatch_at
              ? ", and it is queued again after " + to_rfc3339(*record.redispatch_at)
              : std::string());
}

Task<Result<void>> ClusterLinks::change_copy(std::string cluster, const CopyObject& copy,
                                             RemoteWork work) {
  CO_TRY_ASSIGN(const Way way, co_await way_to(std::move(cluster)));
  CO_TRY(co_await way.client->patch(copy_type(kind_of(work)), copy.wrapper.metadata.key(),
                                    kube::PatchKind::merge, wanted_patch(copy, work)));
  co_return Result<void>();
}

Task<Result<CopySeen>> ClusterLinks::look(std::string cluster, RemoteWork work) {
  const WorkKind kind = kind_of(work);
  const std::string& uid = work.wrapper.metadata.uid;
  const model::ObjectKey key = work.wrapper.metadata.key();
  CopySeen seen{.cluster = cluster};
  const auto at = records_.find(cluster);
  if (!is_usable(cluster)) {
    seen.unknown =
        !begun_ || (client(cluster) != nullptr &&
                    (at->second.worker->state().connected || is_connecting(*at->second.worker)));
    seen.given_up = why_given_up(cluster);
    if (!seen.unknown && seen.given_up.empty()) {
      seen.lost = why_lost(cluster);
    }
    co_return seen;
  }
  std::optional<CopyObject> copy;
  const runtime::Informer* copies = at->second.worker->copies(kind);
  const kube::ObjectRef cached = copies == nullptr ? nullptr : copies->store().get(key);
  if (cached != nullptr) {
    Result<CopyObject> read = read_copy_object(*cached, kind);
    if (read) {
      copy = *std::move(read);
    }
  }
  if (!copy || !is_ours(copy->wrapper, uid)) {
    // Its absence is believed of the server alone.
    const Result<Way> way = co_await way_to(cluster);
    if (!way) {
      CO_TRY(not_cancelled(way.error()));
      seen.unknown = true;
      co_return seen;
    }
    Result<std::optional<CopyObject>> asked = co_await get_copy(way->client, kind, key);
    if (!asked) {
      CO_TRY(not_cancelled(asked.error()));
      seen.lost = why_lost(cluster);
      co_return seen;
    }
    copy = *std::move(asked);
  }
  if (!copy || !is_ours(copy->wrapper, uid)) {
    seen.gone = true;
    co_return seen;
  }
  const AppWrapper& wrapper = copy->wrapper;
  seen.status = wrapper.status;
  if (copy->job) {
    seen.training = copy->job->status;
  }
  seen.fenced = is_fenced(wrapper.metadata) && !model::is_terminal(wrapper.status);
  seen.evicted = is_evicting(cluster) && !model::is_terminal(wrapper.status);
  if (!is_as_wanted(*copy, work) && !wrapper.metadata.deleting()) {
    const Result<void> changed = co_await change_copy(cluster, *copy, work);
    if (!changed) {
      CO_TRY(not_cancelled(changed.error()));
      seen.outdated = true;
      logger_.info("cannot change the priority or the size of a copy",
                   {{"cluster", cluster}, {"object", key.to_string()}, {"error", changed.error()}});
    }
  }
  co_return seen;
}

// --- back ---

Task<Result<CopyRemoval>> ClusterLinks::take_back(std::string cluster, RemoteWork work) {
  const WorkKind kind = kind_of(work);
  const AppWrapper& wrapper = work.wrapper;
  const std::string uid = wrapper.metadata.uid;
  const model::ObjectKey key = wrapper.metadata.key();
  const std::string name = std::string(name_of(kind)) + " on cluster " + cluster;
  // Nobody asks any more how the copy ended.
  const bool over = wrapper.metadata.deleting() || model::is_terminal(wrapper.status);
  const bool usable = is_usable(cluster);
  if (!usable && !why_given_up(cluster).empty()) {
    co_return CopyRemoval();  // an administrator's word, or a fence
  }
  // A server that is not known to be that cluster's cannot say that there is none.
  if (!usable) {
    co_return CopyRemoval{.left = name + " (" + why_lost(cluster) + ")"};
  }
  bool asked = false;
  for (int i = 0; i < kStepsMax; ++i) {
    const Result<Way> way = co_await way_to(cluster);
    if (!way) {
      CO_TRY(not_cancelled(way.error()));
      co_return CopyRemoval{.left = name + " (" + way.error().message + ")"};
    }
    const std::shared_ptr<kube::Client>& there = way->client;
    Result<std::optional<CopyObject>> found = co_await get_copy(there, kind, key);
    if (!found) {
      CO_TRY(not_cancelled(found.error()));
      co_return CopyRemoval{.left = name + " (" + why_lost(cluster) + ")"};
    }
    if (!*found || !is_ours((*found)->wrapper, uid)) {
      co_return CopyRemoval();  // write 7 may follow: the server has none
    }
    const AppWrapper copy = (*found)->wrapper;
    if (!over && model::is_terminal(copy.status)) {
      // Its plan goes when nothing of it runs any more.
      if (copy.status.plan) {
        co_return CopyRemoval{.left = name};
      }
      CopyRemoval removal{.ended = copy.status};
      if ((*found)->job) {
        removal.training = (*found)->job->status;
      }
      co_return removal;
    }
    if (asked || copy.metadata.deleting()) {
      co_return CopyRemoval{.left = name};
    }
    // Write 6. With the version: the copy may end between the look and the deletion.
    const Result<kube::ObjectRef> rest =
        co_await there->remove(copy_type(kind), key,
                               {.propagation_policy = propagation_for(kind),
                                .uid = copy.metadata.uid,
                                .resource_version = over ? "" : copy.metadata.resource_version});
    if (!rest && rest.error().code == ErrorCode::conflict) {
      continue;
    }
    if (!rest && rest.error().code != ErrorCode::not_found) {
      CO_TRY(not_cancelled(rest.error()));
      co_return CopyRemoval{.left = name + " (" + rest.error().message + ")"};
    }
    asked = true;
  }
  co_return CopyRemoval{.left = name + " (it keeps changing)"};
}

Task<Result<std::string>> ClusterLinks::remove_all(RemoteWork work) {
  std::string left;
  std::vector<std::string> where;
  for (const auto& [name, record] : records_) {
    const bool has = std::ranges::any_of(record.copies, [&](const auto& copy) {
      return copy.second.hub_uid == work.wrapper.metadata.uid;
    });
    if (has && record.worker != nullptr && record.worker->usable()) {
      where.push_back(name);
    }
  }
  for (std::string& cluster : where) {
    CO_TRY_ASSIGN(const CopyRemoval rest, co_await take_back(std::move(cluster), work));
    left += (left.empty() || rest.left.empty() ? "" : ", ") + rest.left;
  }
  co_return left;
}

// --- where they have no business ---

std::vector<model::ResourceType> ClusterLinks::hub_types(WorkKind kind) const {
  if (kind == WorkKind::training_job) {
    return {copy_type(kind)};
  }
  std::vector<model::ResourceType> types{copy_type(kind)};
  if (options_.legacy_group) {
    types.push_back(app_wrapper_type(model::WrapperApi::mcad_v1beta1));
  }
  return types;
}

std::optional<AppWrapper> ClusterLinks::hub_object(const Stray& stray) const {
  const model::ObjectMeta& copy = stray.copy.metadata;
  for (const model::ResourceType& type : hub_types(stray.kind)) {
    const kube::ObjectRef object = manager_.cache().informer(type).store().get(copy.key());
    if (object == nullptr || object->uid() != mark_of(copy).hub_uid) {
      continue;
    }
    Result<AppWrapper> read = read_without_spec(*object, stray.kind);
    if (read) {
      return *std::move(read);
    }
  }
  return std::nullopt;
}

// The cache may lag behind: the hub's server decides.
Task<Result<bool>> ClusterLinks::is_stray_for_sure(std::string cluster, Stray stray) {
  const model::ObjectMeta& copy = stray.copy.metadata;
  std::optional<AppWrapper> hub;
  for (const model::ResourceType& type : hub_types(stray.kind)) {
    const Result<kube::ObjectRef> object = co_await manager_.client().get(type, copy.key());
    if (!object && object.error().code != ErrorCode::not_found) {
      co_return fail(object.error());
    }
    if (object && (*object)->uid() == mark_of(copy).hub_uid) {
      CO_TRY_ASSIGN(hub, read_without_spec(**object, stray.kind));
    }
  }
  co_return is_stray(hub, cluster, stray.copy);
}

void ClusterLinks::collect() {
  std::map<std::string, std::vector<Stray>> found;
  for (const auto& [name, record] : records_) {
    if (record.worker == nullptr || !record.worker->usable() || !record.fed) {
      continue;
    }
    for (const WorkKind kind : kCopyKinds) {
      const runtime::Informer* copies = record.worker->copies(kind);
      if (copies == nullptr) {
        continue;
      }
      for (const kube::ObjectRef& object : copies->store().list()) {
        Result<AppWrapper> copy = read_without_spec(*object, kind);
        if (!copy || copy->metadata.deleting() || mark_of(copy->metadata).hub != hub_) {
          continue;
        }
        Stray stray{.kind = kind, .copy = *std::move(copy)};
        if (is_stray(hub_object(stray), name, stray.copy)) {
          found[name].push_back(std::move(stray));
        }
      }
    }
  }
  for (auto& [name, strays] : found) {
    start_errand(name, remove_strays(name, std::move(strays)));
  }
}

Task<void> ClusterLinks::remove_strays(std::string cluster, std::vector<Stray> strays) {
  for (const Stray& each : strays) {
    const Result<bool> stray = co_await is_stray_for_sure(cluster, each);
    const std::shared_ptr<kube::Client> there = client(cluster);
    if (!is_usable(cluster)) {
      break;
    }
    if (!stray || !*stray) {
      continue;
    }
    const model::ObjectMeta& meta = each.copy.metadata;
    // The version too: a copy that was released meanwhile has its plan by now.
    const Result<kube::ObjectRef> removed =
        co_await there->remove(copy_type(each.kind), meta.key(),
                               {.propagation_policy = propagation_for(each.kind),
                                .uid = meta.uid,
                                .resource_version = meta.resource_version});
    logger_.info("stray copy deleted", {{"cluster", cluster},
                                        {"object", meta.key().to_string()},
                                        {"result", removed ? "ok" : removed.error().message}});
  }
}

}  // namespace codeflare::controllers::dispatch
