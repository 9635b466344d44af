#include "queue/internal/wrapper_events.h"

#include "queue/internal/lost_places.h"
#include "queue/internal/pod_events.h"
#include "queue/internal/standing_of.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace codeflare::queue {

namespace {

// Longer than anybody waits, and far from overflow in nanoseconds.
constexpr std::int64_t kSecondsMax = std::int64_t{100} * 365 * 86'400;

// No more than the clocks of two machines of a cluster differ.
constexpr Duration kClocksApart = std::chrono::minutes(1);

Duration seconds_of(std::int64_t seconds) {
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kSecondsMax));
}

// Labels that may name a tree: names of trees have no slash.
std::vector<sched::Designation> designations(const model::StringMap& labels) {
  std::vector<sched::Designation> result;
  for (const auto& [key, value] : labels) {
    if (key.find('/') == std::string::npos) {
      result.push_back({key, value});
    }
  }
  return result;
}

// What is held stays charged where it was admitted: no label uses up quota, or gives it back.
const std::vector<sched::Designation>& labels_that_count(const WrapperRecord& record) {
  return record.holds ? record.admitted_quota : record.quota;
}

// Only those that name a tree: what else people write into labels would make each of their gangs a
// claim of its own.
std::vector<sched::Designation> meant(const QueueState& state, const WrapperRecord& record) {
  std::vector<sched::Designation> result;
  for (const sched::Designation& each : labels_that_count(record)) {
    if (state.trees.contains(each.tree)) {
      result.push_back(each);
    }
  }
  return result;
}

bool has_user(const QueueState& state, const model::AppWrapper& wrapper) {
  return !state.options.user_check ||
         !model::find_or_empty(wrapper.metadata.annotations, kUserAnnotation).empty();
}

sched::Time submitted(const model::AppWrapper& wrapper, Time now) {
  const sched::Time second = wrapper.metadata.creation_timestamp.value_or(now);
  // Work that was made anew from a copy keeps its place in line.
  const auto& seen = wrapper.status.controller_first_timestamp;
  if (seen && seen->time < second - kClocksApart) {
    return seen->time;
  }
  // Admission's word, as far as it agrees with the server's, which has whole seconds: neither the
  // clock of another machine nor who writes it where there is no admission wins more than that.
  const auto recorded =
      parse_rfc3339(model::find_or_empty(wrapper.metadata.annotations, kTimeAnnotation));
  if (!recorded) {
    return second;
  }
  return std::clamp(*recorded, second, second + std::chrono::microseconds(999'999));
}

void read(const QueueState& state, const model::AppWrapper& wrapper, WrapperRecord& record) {
  record.priority = wrapper.spec.priority;
  record.suspended = wrapper.spec.suspend.value_or(false);
  record.user_known = has_user(state, wrapper);
  record.quota = designations(wrapper.metadata.labels);
}

// What its labels say, and the ResourceQuotas of its namespace that are not about its pods. One
// that is about some of them counts all of them: a gang is charged as a whole. Scopes are those of
// now also for what is held: so does the server count.
std::vector<sched::Designation> charged_nodes(const QueueState& state,
                                              const WrapperRecord& record) {
  std::vector<sched::Designation> result = meant(state, record);
  const auto found = state.namespaces.find(record.id.key.ns);
  if (found == state.namespaces.end()) {
    return result;
  }
  for (const auto& [key, quota] : found->second.quotas) {
    const bool concerned = std::ranges::any_of(
        record.demand.pod_sets,
        [&](const PodSetDemand& set) { return quota.rule.concerns(set.traits); });
    if (!quota.rule.scopes.empty() && !concerned) {
      result.push_back(QuotaTrees::out_of_scope(key));
    }
  }
  return result;
}

bool is_held(const WrapperRecord& record) {
  return record.suspended || !record.user_known || record.not_before.has_value();
}

void delay(QueueState& state, WrapperRecord& record, std::optional<Time> not_before, Time now) {
  if (!not_before || *not_before <= now) {
    return;
  }
  record.not_before = not_before;
  state.delayed.emplace(*not_before, record.id.uid);
}

void end_delay(QueueState& state, WrapperRecord& record) {
  if (!record.not_before) {
    return;
  }
  state.delayed.erase({*record.not_before, record.id.uid});
  record.not_before.reset();
}

void release(QueueState& state, WrapperRecord& record) {
  end_delay(state, record);
  (void)state.core.set_held(record.gang, is_held(record));
  state.touched.insert(record.id.uid);
}

sched::GangSpec gang_spec(const QueueState& state, const model::AppWrapper& wrapper,
                          const WrapperRecord& record, Time now) {
  // Times of submission that are equal all the same are told apart by name, as people would.
  sched::GangSpec spec{.name = record.id.key.to_string() + "/" + record.id.uid,
                       .ns = record.id.key.ns,
                       .priority = record.priority,
                       .slope = wrapper.spec.priority_slope.value_or(0),
                       .submitted = submitted(wrapper, now),
                       .quota = charged_nodes(state, record),
                       .consumed = seconds_of(wrapper.status.consumed_seconds),
                       .held = is_held(record)};
  for (const PodSetDemand& each : record.demand.pod_sets) {
    spec.pod_sets.push_back(each.pods);
  }
  spec.within.keys = record.demand.within;
  if (wrapper.spec.scheduling_spec && wrapper.spec.scheduling_spec->dispatch_duration) {
    spec.expected = seconds_of(wrapper.spec.scheduling_spec->dispatch_duration->expected);
    spec.limit = seconds_of(wrapper.spec.scheduling_spec->dispatch_duration->limit);
  }
  return spec;
}

// Places on nodes that are there, for the core; the others are lost for now.
sched::Placement placement_of(QueueState& state, WrapperRecord& record,
                              std::vector<model::PlannedPlace>& lost) {
  sched::Placement placement;
  std::erase_if(record.plan, [&](const model::PlannedPlace& place) {
    return place.count <= 0 || place.pod_set < 0 ||
           static_cast<std::size_t>(place.pod_set) >= record.demand.pod_sets.size();
  });
  for (const model::PlannedPlace& place : record.plan) {
    const auto node = state.nodes.find(place.node);
    if (node != state.nodes.end() && node->second.present) {
      placement.push_back(
          {static_cast<std::uint32_t>(place.pod_set), node->second.id, place.count});
    } else {
      lost.push_back(place);
    }
  }
  return placement;
}

void begin_holding(QueueState& state, WrapperRecord& record) {
  record.holds = true;
  record.admitted_quota = record.quota;
  ++state.holding;
  holdings_begun(state, record);
  state.to_bind.insert(record.id.uid);
}

void end_holding(QueueState& state, WrapperRecord& record) {
  if (!record.holds) {
    return;
  }
  --state.holding;
  record.holds = record.draining = record.place_lost = record.plan_unwritten = false;
  record.plan.clear();
  record.lost.clear();
  record.evicted_for.clear();
  record.admitted_quota.clear();
  ++record.plan_version;
  state.displaced.erase(record.id.uid);
  holdings_gone(state, record);
}

// What it holds is read from its status alone.
Result<void> adopt(QueueState& state, const model::AppWrapper& wrapper, WrapperRecord& record,
                   Time now) {
  const model::AppWrapperStatus& status = wrapper.status;
  record.since = status.plan && status.plan->started ? status.plan->started->time
                 : status.controller_first_dispatch_timestamp
                     ? status.controller_first_dispatch_timestamp->time
                     : now;
  if (status.plan) {
    record.plan = status.plan->places;
  }
  std::vector<model::PlannedPlace> lost;
  const sched::Placement placement = placement_of(state, record, lost);
  TRY_ASSIGN(record.gang,
             state.core.adopt(gang_spec(state, wrapper, record, now), record.since, placement));
  for (const model::PlannedPlace& place : lost) {
    add_lost(state, record, place);
  }
  return {};
}

Result<void> join(QueueState& state, const model::AppWrapper& wrapper, WrapperRecord& record,
                  Time now) {
  TRY_ASSIGN(record.demand, demand_of(wrapper));
  read(state, wrapper, record);
  const bool planned = wrapper.status.plan.has_value();
  record.from_mcad = is_from_mcad(wrapper.status);
  if (!planned && !record.from_mcad) {
    delay(state, record, not_before(wrapper.status), now);
    TRY_ASSIGN(record.gang, state.core.submit(gang_spec(state, wrapper, record, now)));
  } else {
    TRY(adopt(state, wrapper, record, now));
  }
  state.by_gang.emplace(record.gang, &record);
  state.by_key[record.id.key].push_back(&record);
  state.touched.insert(record.id.uid);
  link_pods(state, record);
  if (!planned && !record.from_mcad) {
    return {};
  }
  begin_holding(state, record);
  for (std::uint32_t set = 0; set < record.demand.pod_sets.size(); ++set) {
    trim_lost(state, record, set, "");
  }
  const bool goes_on = wrapper.status.can_run && !is_terminal(wrapper.status);
  if (!goes_on) {
    stopping(state, record.id.uid);
  }
  return {};
}

// Labels that name no tree may change at any time. Should a tree come, those of then count, as
// they do for who has to read them from the object after a restart.
void take_over_free_labels(const QueueState& state, WrapperRecord& record) {
  const auto is_free = [&](const sched::Designation& each) {
    return !state.trees.contains(each.tree);
  };
  std::erase_if(record.admitted_quota, is_free);
  std::ranges::copy_if(record.quota, std::back_inserter(record.admitted_quota), is_free);
}

// What a known one holds is none of its object's business; see Queue::upsert.
void refresh(QueueState& state, const model::AppWrapper& wrapper, WrapperRecord& record) {
  const std::int32_t priority = record.priority;
  const bool held = is_held(record);
  const std::vector<sched::Designation> quota = record.quota;
  const bool suspended = record.suspended;
  if (wrapper.metadata.deleting() && !record.holds) {
    remove(state, record.id.uid);
    return;
  }
  read(state, wrapper, record);
  if (record.priority != priority) {
    (void)state.core.set_priority(record.gang, record.priority);
  }
  if (is_held(record) != held) {
    (void)state.core.set_held(record.gang, is_held(record));
  }
  if (record.quota != quota && record.holds) {
    take_over_free_labels(state, record);
  } else if (record.quota != quota) {
    (void)state.core.set_quota(record.gang, charged_nodes(state, record));
  }
  if (record.suspended != suspended) {
    state.to_bind.insert(record.id.uid);
  }
  state.touched.insert(record.id.uid);
}

}  // namespace

Result<void> upsert(QueueState& state, const model::AppWrapper& wrapper, model::WrapperApi api,
                    Time now) {
  const std::string& uid = wrapper.metadata.uid;
  if (uid.empty()) {
    return fail(invalid_argument("metadata.uid: required"));
  }
  if (state.done.contains(uid)) {
    return {};
  }
  if (WrapperRecord* known = state.wrapper(uid)) {
    refresh(state, wrapper, *known);
    return {};
  }
  if (!wrapper.status.plan && (is_terminal(wrapper.status) || wrapper.metadata.deleting())) {
    return {};
  }
  WrapperRecord& record = state.wrappers[uid];
  record.id = {uid, wrapper.metadata.key(), api};
  auto joined = join(state, wrapper, record, now);
  if (!joined) {
    end_delay(state, record);
    state.displaced.erase(uid);
    state.touched.erase(uid);
    state.wrappers.erase(uid);
  }
  return joined;
}

void stopping(QueueState& state, std::string_view uid) {
  WrapperRecord* record = state.wrapper(uid);
  if (record == nullptr || !record->holds) {
    return;
  }
  (void)state.core.drain(record->gang);
  record->draining = true;
  state.touched.insert(record->id.uid);
}

void withdrawn(QueueState& state, std::string_view uid, Time now, std::optional<Time> not_before) {
  WrapperRecord* record = state.wrapper(uid);
  if (record == nullptr || !record->holds) {
    return;
  }
  (void)state.core.requeue(record->gang, now);
  end_holding(state, *record);
  (void)state.core.set_quota(record->gang, charged_nodes(state, *record));
  record->from_mcad = false;
  delay(state, *record, not_before, now);
  (void)state.core.set_held(record->gang, is_held(*record));
  state.touched.insert(record->id.uid);
}

void release_due(QueueState& state, Time now) {
  while (!state.delayed.empty() && state.delayed.begin()->first <= now) {
    release(state, *state.wrapper(state.delayed.begin()->second));
  }
}

void release_delayed(QueueState& state, std::string_view ns) {
  std::vector<WrapperRecord*> found;
  for (const auto& [due, uid] : state.delayed) {
    WrapperRecord* record = state.wrapper(uid);
    if (record->id.key.ns == ns) {
      found.push_back(record);
    }
  }
  for (WrapperRecord* record : found) {
    release(state, *record);
  }
}

void remove(QueueState& state, std::string_view uid) {
  const std::string name(uid);
  state.done.insert(name);
  WrapperRecord* record = state.wrapper(uid);
  if (record == nullptr) {
    return;
  }
  end_delay(state, *record);
  (void)state.core.remove(record->gang);
  end_holding(state, *record);
  unlink_pods(state, *record);
  state.by_gang.erase(record->gang);
  auto& namesakes = state.by_key[record->id.key];
  std::erase(namesakes, record);
  if (namesakes.empty()) {
    state.by_key.erase(record->id.key);
  }
  for (auto* uids : {&state.touched, &state.displaced, &state.to_bind, &state.drifted}) {
    uids->erase(name);
  }
  state.wrappers.erase(name);
}

void trees_changed(QueueState& state) {
  std::set<std::string> now = state.quotas.trees();
  if (now == state.trees) {
    return;
  }
  state.trees = std::move(now);
  for (const auto& [uid, record] : state.wrappers) {
    if (labels_that_count(record).empty()) {
      continue;
    }
    (void)state.core.set_quota(record.gang, charged_nodes(state, record));
  }
}

void scopes_changed(QueueState& state, std::string_view ns) {
  for (const auto& [uid, record] : state.wrappers) {
    if (record.id.key.ns == ns) {
      (void)state.core.set_quota(record.gang, charged_nodes(state, record));
    }
  }
}

void started(QueueState& state, const sched::Admission& admission, Time now) {
  const auto found = state.by_gang.find(admission.gang);
  if (found == state.by_gang.end()) {
    return;
  }
  WrapperRecord& record = *found->second;
  record.since = now;
  record.plan.clear();
  for (const sched::Slot& slot : admission.placement) {
    record.plan.push_back({.pod_set = static_cast<std::int32_t>(slot.pod_set),
                           .node = state.core.node_name(slot.node),
                           .count = slot.count});
  }
  ++record.plan_version;
  begin_holding(state, record);
  state.touched.insert(record.id.uid);
}

void evicted(QueueState& state, const sched::Eviction& eviction) {
  const auto found = state.by_gang.find(eviction.victim);
  if (found == state.by_gang.end()) {
    return;
  }
  WrapperRecord& record = *found->second;
  record.draining = true;
  record.evicted_for = name_of(state, eviction.for_gang);
  record.evicted_cause = eviction.cause;
  state.touched.insert(record.id.uid);
}

}  // namespace codeflare::queue
