#include "queue/internal/pod_events.h"

#include "model/managed_cluster.h"
#include "model/pod_requests.h"
#include "queue/internal/amounts.h"
#include "queue/internal/binder.h"
#include "queue/internal/gang_pods.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/node_events.h"
#include "queue/internal/pod_shape.h"
#include "queue/internal/wrapper_events.h"
#include "queue/marks.h"

#include <chrono>
#include <map>
#include <utility>

namespace codeflare::queue {

namespace {

PodPhase phase_of(const std::string& phase) {
  if (phase == "Succeeded") {
    return PodPhase::succeeded;
  }
  return phase == "Failed" ? PodPhase::failed : PodPhase::active;
}

bool is_extended(const sched::Resource& resource) {
  return resource.name != "cpu" && resource.name != "memory" &&
         resource.name != "ephemeral-storage";
}

// A pod of an earlier dispatch that is still going away takes no place of this one. The API
// server's times are whole seconds.
bool is_leftover(const PodRecord& pod, const WrapperRecord& wrapper) {
  return pod.deleting && pod.counted != CountedAs::gang &&
         pod.created + std::chrono::seconds(1) <= wrapper.since;
}

// Pods of an earlier dispatch on a cluster that was declared lost: nobody hears of their end.
bool is_elsewhere(const PodRecord& pod, const WrapperRecord& wrapper) {
  return !pod.node.empty() &&
         model::managed_cluster::cluster_of_node(pod.node) != cluster_of(wrapper);
}

bool of_gang(const PodRecord& pod) {
  return pod.wrapper != nullptr && pod.wrapper->holds && !is_leftover(pod, *pod.wrapper) &&
         !is_elsewhere(pod, *pod.wrapper);
}

CountedAs belongs(QueueState& state, const PodRecord& pod) {
  if (pod.phase != PodPhase::active || pod.place().empty()) {
    return CountedAs::nothing;
  }
  if (pod.loose && pod.node.empty()) {
    return CountedAs::loose;
  }
  if (!of_gang(pod)) {
    return CountedAs::foreign;
  }
  return state.nodes[pod.place()].present ? CountedAs::gang : CountedAs::nothing;
}

// --- the namespace's ResourceQuotas ---

void tell_use(QueueState& state, NamespaceRecord& record) {
  for (auto& [key, quota] : record.quotas) {
    sched::Resources use;
    for (const auto& [traits, amounts] : record.use) {
      if (quota.rule.concerns(traits)) {
        add(use, amounts, +1);
      }
    }
    if (use == quota.use_told) {
      continue;
    }
    QuotaTrees::set_resource_quota_use(state.core, key, use);
    quota.use_told = std::move(use);
  }
}

void count_use(NamespaceRecord& record, const PodRecord& pod, int sign) {
  sched::Resources& use = record.use[pod.traits];
  add(use, joined(pod.requests, pod.limits), sign);
  if (amount_of(use, "pods") == 0) {
    record.use.erase(pod.traits);
  }
}

// Quota counts pods from their creation; those of gangs are charged there as declared.
void settle_in_namespace(QueueState& state, PodRecord& pod) {
  const bool counts = pod.phase == PodPhase::active && !of_gang(pod);
  if (counts == pod.in_namespace) {
    return;
  }
  NamespaceRecord& record = state.namespaces[pod.key.ns];
  count_use(record, pod, counts ? +1 : -1);
  pod.in_namespace = counts;
  tell_use(state, record);
}

// --- the sum of a node ---

void enter_sum(QueueState& state, PodRecord& pod) {
  NodeRecord& node = state.nodes[pod.place()];
  add(node.foreign, pod.requests, +1);
  pod.counted = CountedAs::foreign;
  pod.counted_at = pod.place();
  tell_foreign(state, node);
}

// The caller that settles the pod anew updates the core: mostly nothing changes in the end.
void leave_sum(QueueState& state, PodRecord& pod) {
  add(state.nodes[pod.counted_at].foreign, pod.requests, -1);
  pod.counted = CountedAs::nothing;
}

void leave(QueueState& state, PodRecord& pod) {
  switch (pod.counted) {
    case CountedAs::nothing:
      break;
    case CountedAs::foreign:
      leave_sum(state, pod);
      tell_foreign(state, state.nodes[pod.counted_at]);
      break;
    case CountedAs::gang:
      leave_gang(state, *pod.wrapper, pod);
      break;
    case CountedAs::loose:
      drop_loose(state, pod);
      break;
  }
  pod.counted = CountedAs::nothing;
}

// --- where it is ---

void move_to(QueueState& state, PodRecord& pod, const std::string& before) {
  const std::string& now = pod.place();
  if (before == now) {
    return;
  }
  if (const auto at = state.nodes.find(before); at != state.nodes.end()) {
    at->second.pods.erase(&pod);
    if (at->second.pods.empty() && !at->second.present) {
      state.nodes.erase(at);
    }
  }
  if (!now.empty()) {
    state.nodes[now].pods.insert(&pod);
  }
}

void join_wrapper(QueueState& state, PodRecord& pod, WrapperRecord& wrapper) {
  pod.wrapper = &wrapper;
  pod.pod_set = pod_set_in(wrapper.demand, pod);
  wrapper.pods.insert(&pod);
  state.to_bind.insert(wrapper.id.uid);
}

void find_wrapper(QueueState& state, PodRecord& pod) {
  if (!pod.owner.empty()) {
    // Anybody may write any label: a gang's places are for pods of its namespace.
    WrapperRecord* wrapper = state.wrapper(pod.owner);
    if (wrapper != nullptr && wrapper->id.key.ns == pod.key.ns) {
      join_wrapper(state, pod, *wrapper);
    } else {
      state.orphans[pod.owner].insert(&pod);
    }
    return;
  }
  if (pod.mcad_owner.empty()) {
    return;
  }
  const model::ObjectKey key{pod.key.ns, pod.mcad_owner};
  if (const auto found = state.by_key.find(key); found != state.by_key.end()) {
    for (WrapperRecord* wrapper : found->second) {
      if (wrapper->from_mcad) {
        return join_wrapper(state, pod, *wrapper);
      }
    }
  }
  state.mcad_orphans[key].insert(&pod);
}

void drop_orphan(QueueState& state, PodRecord& pod) {
  if (const auto at = state.orphans.find(pod.owner); at != state.orphans.end()) {
    at->second.erase(&pod);
    if (at->second.empty()) {
      state.orphans.erase(at);
    }
  }
  const model::ObjectKey key{pod.key.ns, pod.mcad_owner};
  if (const auto at = state.mcad_orphans.find(key); at != state.mcad_orphans.end()) {
    at->second.erase(&pod);
    if (at->second.empty()) {
      state.mcad_orphans.erase(at);
    }
  }
}

PodRecord& new_record(QueueState& state, const model::Pod& pod) {
  PodRecord& record = state.pods[pod.metadata.uid];
  record.key = pod.metadata.key();
  record.uid = pod.metadata.uid;
  record.created = pod.metadata.creation_timestamp.value_or(sched::Time{});
  record.owner = model::find_or_empty(pod.metadata.labels, kUidLabel);
  if (record.owner.empty()) {
    record.mcad_owner = model::find_or_empty(pod.metadata.labels, kMcadLabel);
  }
  record.set_label = model::find_or_empty(pod.metadata.labels, kPodSetLabel);
  state.pod_by_key[record.key] = &record;
  return record;
}

void read(const model::Pod& pod, PodRecord& record) {
  record.node = pod.spec.node_name;
  if (!record.node.empty()) {
    record.assumed.clear();
  }
  sched::Resources requests = observed(model::pod_requests(pod.spec));
  // No node has so many: what is left counts.
  if (requests.size() > kResourcesMax) {
    std::erase_if(requests, is_extended);
  }
  add(requests, {{"pods", 1}}, +1);
  if (model::find_or_empty(pod.metadata.labels, kUnitLabel) == kNodeUnit) {
    add(requests, {{std::string(kNodeUnitResource), 1}}, +1);
  }
  sched::Resources limits = observed_limits(model::pod_limits(pod.spec));
  record.resized = requests != record.requests || limits != record.limits;
  record.requests = std::move(requests);
  record.limits = std::move(limits);
  record.traits = traits_of(pod.spec);
  record.priority = pod.spec.priority.value_or(0);
  record.phase = phase_of(pod.status.phase);
  record.deleting = pod.metadata.deleting();
  record.gated = !pod.spec.scheduling_gates.empty();
  record.ours = pod.spec.scheduler_name == kSchedulerName;
}

// Updates a started gang when its pods change, end or come.
void update_gang(QueueState& state, PodRecord& pod) {
  count_success(*pod.wrapper, pod);
  settle(state, pod);
  trim_places(state, *pod.wrapper, pod);
  state.to_bind.insert(pod.wrapper->id.uid);
}

void erase(QueueState& state, PodRecord& pod) {
  leave(state, pod);
  if (pod.loose) {
    drop_loose(state, pod);
  }
  pod.phase = PodPhase::failed;
  settle_in_namespace(state, pod);
  const std::string before = pod.place();
  pod.node.clear();
  pod.assumed.clear();
  move_to(state, pod, before);
  if (pod.wrapper != nullptr) {
    pod.wrapper->pods.erase(&pod);
    state.to_bind.insert(pod.wrapper->id.uid);
  }
  drop_orphan(state, pod);
  if (const auto at = state.pod_by_key.find(pod.key);
      at != state.pod_by_key.end() && at->second == &pod) {
    state.pod_by_key.erase(at);
  }
  state.pods.erase(pod.uid);
}

}  // namespace

void settle(QueueState& state, PodRecord& pod) {
  settle_in_namespace(state, pod);
  const CountedAs to = belongs(state, pod);
  const bool resized = std::exchange(pod.resized, false) && to == CountedAs::gang;
  if (to == pod.counted && pod.counted_at == pod.place() && !resized) {
    return;
  }
  if (to == CountedAs::gang) {
    // The core knows what to do with a pod that it has already.
    if (pod.counted != CountedAs::gang) {
      leave(state, pod);
    }
    if (pod.loose) {
      drop_loose(state, pod);
    }
    enter_gang(state, *pod.wrapper, pod);
    return;
  }
  leave(state, pod);
  if (pod.loose && to != CountedAs::loose && !pod.node.empty()) {
    drop_loose(state, pod);
  }
  if (to == CountedAs::foreign) {
    enter_sum(state, pod);
  }
}

void upsert_pod(QueueState& state, const model::Pod& pod) {
  // The name may have been taken again before the end of the older pod was seen.
  const auto namesake = state.pod_by_key.find(pod.metadata.key());
  if (namesake != state.pod_by_key.end() && namesake->second->uid != pod.metadata.uid) {
    erase(state, *namesake->second);
  }
  const auto known = state.pods.find(pod.metadata.uid);
  const bool fresh = known == state.pods.end();
  PodRecord& record = fresh ? new_record(state, pod) : known->second;
  const std::string before = record.place();
  const std::string counted_at = record.counted_at;
  const bool summed = record.counted == CountedAs::foreign;
  // The sum must shrink by the amount that was added.
  if (summed) {
    leave_sum(state, record);
  }
  if (record.in_namespace) {
    count_use(state.namespaces[record.key.ns], record, -1);
    record.in_namespace = false;
  }
  read(pod, record);
  if (fresh) {
    find_wrapper(state, record);
  }
  if (record.wrapper != nullptr && record.wrapper->holds) {
    update_gang(state, record);
  } else {
    settle(state, record);
  }
  if (summed) {
    if (const auto at = state.nodes.find(counted_at); at != state.nodes.end()) {
      tell_foreign(state, at->second);
    }
  }
  tell_use(state, state.namespaces[record.key.ns]);
  move_to(state, record, before);
  keep_constraints(state, record, pod.spec);
  look_for_place(state, record);
}

void remove_pod(QueueState& state, const model::ObjectKey& key, std::string_view uid) {
  if (!uid.empty()) {
    if (const auto at = state.pods.find(uid); at != state.pods.end()) {
      erase(state, at->second);
    }
    return;
  }
  if (const auto at = state.pod_by_key.find(key); at != state.pod_by_key.end()) {
    erase(state, *at->second);
  }
}

void link_pods(QueueState& state, WrapperRecord& wrapper) {
  PodSetOf found;
  if (const auto at = state.orphans.find(wrapper.id.uid); at != state.orphans.end()) {
    for (PodRecord* pod : at->second) {
      if (pod->key.ns == wrapper.id.key.ns) {
        found.insert(pod);
      }
    }
    for (PodRecord* pod : found) {
      at->second.erase(pod);
    }
    if (at->second.empty()) {
      state.orphans.erase(at);
    }
  }
  if (wrapper.from_mcad) {
    if (const auto at = state.mcad_orphans.find(wrapper.id.key); at != state.mcad_orphans.end()) {
      found.merge(at->second);
      state.mcad_orphans.erase(at);
    }
  }
  for (PodRecord* pod : found) {
    join_wrapper(state, *pod, wrapper);
  }
}

void unlink_pods(QueueState& state, WrapperRecord& wrapper) {
  for (PodRecord* pod : std::exchange(wrapper.pods, {})) {
    pod->wrapper = nullptr;
    pod->pod_set.reset();
    if (pod->loose && pod->assumed.empty()) {
      drop_loose(state, *pod);
    }
    if (!pod->owner.empty()) {
      state.orphans[pod->owner].insert(pod);
    } else {
      state.mcad_orphans[{pod->key.ns, pod->mcad_owner}].insert(pod);
    }
    settle(state, *pod);
  }
}

void holdings_gone(QueueState& state, WrapperRecord& wrapper) {
  for (PodRecord* pod : wrapper.pods) {
    if (pod->counted == CountedAs::gang) {
      pod->counted = CountedAs::nothing;
    }
    if (pod->loose && pod->assumed.empty()) {
      drop_loose(state, *pod);
    }
    settle(state, *pod);
  }
}

void holdings_begun(QueueState& state, WrapperRecord& wrapper) {
  wrapper.succeeded.assign(wrapper.demand.pod_sets.size(), 0);
  wrapper.fallen.assign(wrapper.demand.pod_sets.size(), 0);
  const PodSetOf pods = wrapper.pods;
  for (PodRecord* pod : pods) {
    count_success(wrapper, *pod);
  }
  // First pods that are where the plan has them take their places, then those that ended give up
  // theirs; who is elsewhere takes what is left.
  std::map<std::pair<std::int32_t, std::string>, std::int64_t> room;
  for (const model::PlannedPlace& place : wrapper.plan) {
    room[{place.pod_set, place.node}] += place.count;
  }
  for (PodRecord* pod : pods) {
    if (!pod->pod_set || pod->phase != PodPhase::active) {
      continue;
    }
    const auto at = room.find({static_cast<std::int32_t>(*pod->pod_set), pod->place()});
    if (at != room.end() && at->second-- > 0) {
      settle(state, *pod);
    }
  }
  for (PodRecord* pod : pods) {
    trim_places(state, wrapper, *pod);
  }
  for (PodRecord* pod : pods) {
    settle(state, *pod);
  }
}

void set_resource_quota(QueueState& state, const model::ObjectKey& key, const QuotaRule& rule) {
  NamespaceRecord& record = state.namespaces[key.ns];
  const auto [at, added] = record.quotas.try_emplace(key);
  // Its status is written with every pod: only the rule matters.
  if (!added && at->second.rule == rule) {
    return;
  }
  const bool scoped = !rule.scopes.empty() || !at->second.rule.scopes.empty();
  at->second = {rule, std::nullopt};
  release_delayed(state, key.ns);
  QuotaTrees::set_resource_quota(state.core, key, rule);
  if (scoped) {
    scopes_changed(state, key.ns);
  }
  tell_use(state, record);
}

void remove_resource_quota(QueueState& state, const model::ObjectKey& key) {
  const auto at = state.namespaces.find(key.ns);
  if (at == state.namespaces.end()) {
    return;
  }
  const auto quota = at->second.quotas.find(key);
  if (quota == at->second.quotas.end()) {
    return;
  }
  const bool scoped = !quota->second.rule.scopes.empty();
  at->second.quotas.erase(quota);
  release_delayed(state, key.ns);
  QuotaTrees::remove_resource_quota(state.core, key);
  if (scoped) {
    scopes_changed(state, key.ns);
  }
}

}  // namespace codeflare::queue
