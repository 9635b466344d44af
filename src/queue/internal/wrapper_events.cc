#include "queue/internal/wrapper_events.h"

#include "base/check.h"
#include "model/managed_cluster.h"
#include "queue/internal/amounts.h"
#include "queue/internal/item_check.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/machine_plan.h"
#include "queue/internal/pod_events.h"
#include "queue/internal/standing_of.h"
#include "queue/kinds/problems.h"
#include "queue/training_work.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace codeflare::queue {

namespace {

// An admitted AppWrapper stays charged where it was: no label uses up quota, or gives it back.
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

void read(const Work& work, WrapperRecord& record) {
  record.priority = work.priority;
  record.suspended = work.suspended;
  record.user_known = work.user_known;
  record.quota = work.quota;
}

// The quota nodes of its labels, and the ResourceQuotas of its namespace that are not about its
// pods. One that is about some of them counts all of them: a gang is charged as a whole. Scopes are
// those of now also for what is held: so does the server count.
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

void restrict_to_cluster(std::vector<sched::PodSet>& sets, std::string_view cluster) {
  for (sched::PodSet& pods : sets) {
    pods.selector.emplace_back(model::managed_cluster::kClusterLabel, cluster);
  }
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

// The pods of one that waits, and what they have in common. With one cluster they are of that one;
// with several the gang stays within one of those that it may use.
struct Needs {
  std::vector<sched::PodSet> pods;
  sched::Within within;
};

Needs unordered_needs(const QueueState& state, WrapperRecord& record) {
  Needs needs;
  for (const PodSetDemand& each : record.demand.pod_sets) {
    needs.pods.push_back(each.pods);
  }
  needs.within.keys = record.demand.within;
  record.other_clusters.clear();
  const bool training = record.id.kind == WorkKind::training_job;
  record.pinned = state.clusters.empty() || (record.elastic && !training);
  if (record.pinned) {
    restrict_to_cluster(needs.pods, model::managed_cluster::kLocal);
    return needs;
  }
  const ClusterNotes none;
  ClusterChoice choice =
      choose_clusters(record.demand.clusters, state.clusters,
                      record.cluster_notes == nullptr ? none : *record.cluster_notes, training);
  for (sched::PodSet& pods : needs.pods) {
    restrict_to_clusters(pods, choice.allowed);
  }
  needs.within.keys.emplace(needs.within.keys.begin(), model::managed_cluster::kClusterLabel);
  needs.within.prefer = std::move(choice.tiers);
  record.other_clusters = std::move(choice.others);
  return needs;
}

// Of one that holds places: the cluster that its plan names, and no other.
Needs needs_in(std::string_view cluster, WrapperRecord& record) {
  Needs needs;
  record.pinned = true;
  for (const PodSetDemand& each : record.demand.pod_sets) {
    needs.pods.push_back(each.pods);
  }
  needs.within.keys = record.demand.within;
  restrict_to_cluster(needs.pods, cluster);
  return needs;
}

Needs needs_of(const QueueState& state, WrapperRecord& record) {
  Needs needs = unordered_needs(state, record);
  restrict_to_types(record, needs.pods);
  return needs;
}

sched::GangSpec gang_spec(const QueueState& state, const Work& work, const WrapperRecord& record,
                          Needs needs) {
  // Equal times of submission are ordered by name, as people would.
  sched::GangSpec spec{.name = record.id.key.to_string() + "/" + record.id.uid,
                       .ns = record.id.key.ns,
                       .priority = record.priority,
                       .slope = work.slope,
                       .submitted = work.submitted,
                       .pod_sets = std::move(needs.pods),
                       .within = std::move(needs.within),
                       .quota = charged_nodes(state, record),
                       .expected = work.expected,
                       .limit = work.limit,
                       .consumed = work.consumed,
                       .pausable = record.id.kind == WorkKind::training_job,
                       .held = is_held(record),
                       .queue = work.queue.empty() ? record.demand.queue : work.queue};
  return spec;
}

// A gang of several sizes cannot change what it asks for: it is another gang.
void submit_again(QueueState& state, WrapperRecord& record) {
  state.by_gang.erase(record.gang);
  (void)state.core.remove(record.gang);
  const auto gang =
      state.core.submit(gang_spec(state, *record.work, record, needs_of(state, record)));
  CHECK(gang.has_value(), "a gang that was understood before is rejected");
  record.gang = *gang;
  state.by_gang.emplace(record.gang, &record);
  state.touched.insert(record.id.uid);
}

// The clusters that it may use, or their order, may be others than before.
void choose_again(QueueState& state, WrapperRecord& record) {
  if (record.work != nullptr && !record.holds) {
    submit_again(state, record);
    return;
  }
  if (record.holds || record.elastic) {
    return;
  }
  Needs needs = needs_of(state, record);
  (void)state.core.set_pods(record.gang, needs.pods, needs.within);
  state.touched.insert(record.id.uid);
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
  record.cluster.clear();
  record.cluster = cluster_of(record);
  record.admitted_quota = record.quota;
  ++state.holding;
  holdings_begun(state, record);
  state.to_bind.insert(record.id.uid);
}

bool has_reserved(const QueueState& state, const WrapperRecord& record, const sched::Slot& slot) {
  const auto reserved = state.core.reserved(record.gang);
  return reserved && std::ranges::any_of(*reserved, [&](const sched::Slot& each) {
           return each.pod_set == slot.pod_set && each.node == slot.node && each.count > 0;
         });
}

void end_holding(QueueState& state, WrapperRecord& record) {
  if (!record.holds) {
    return;
  }
  --state.holding;
  record.holds = record.draining = record.place_lost = record.plan_unwritten = false;
  record.plan.clear();
  record.cluster.clear();
  record.lost.clear();
  record.leaving.clear();
  record.shrinks_for.clear();
  record.rates.group_ended();
  record.evicted_for.clear();
  record.admitted_quota.clear();
  ++record.plan_version;
  state.displaced.erase(record.id.uid);
  holdings_gone(state, record);
}

void erase(QueueState& state, WrapperRecord& record) {
  const std::string name = record.id.uid;
  end_delay(state, record);
  (void)state.core.remove(record.gang);
  end_holding(state, record);
  unlink_pods(state, record);
  state.by_gang.erase(record.gang);
  auto& namesakes = state.by_key[record.id.key];
  std::erase(namesakes, &record);
  if (namesakes.empty()) {
    state.by_key.erase(record.id.key);
  }
  for (auto* uids :
       {&state.touched, &state.displaced, &state.to_bind, &state.cordoned, &state.drifted}) {
    uids->erase(name);
  }
  state.wrappers.erase(name);
}

// Its places are read from its status alone.
Result<void> adopt(QueueState& state, const Work& work, WrapperRecord& record, Time now) {
  record.since = work.since.value_or(now);
  if (work.plan) {
    record.plan = *work.plan;
  }
  std::vector<model::PlannedPlace> lost;
  const sched::Placement placement = placement_of(state, record, lost);
  const std::string cluster(cluster_of(record));
  TRY_ASSIGN(record.gang,
             state.core.adopt(gang_spec(state, work, record, needs_in(cluster, record)),
                              record.since, placement));
  if (record.elastic) {
    // The core grows it again by what is missing.
    state.drifted.insert(record.id.uid);
    return {};
  }
  for (const model::PlannedPlace& place : lost) {
    add_lost(state, record, place);
  }
  return {};
}

// Its places stay, also beyond the bounds of the item: those of the wrapped TrainingJob follow.
void widen_bounds(const Work& work, sched::Sizes& sizes) {
  std::int64_t held = 0;
  for (const model::PlannedPlace& place : work.plan.value_or(std::vector<model::PlannedPlace>())) {
    held += place.count;
  }
  if (held > sizes.max) {
    sizes = {.min = sizes.min, .max = held, .cooldown = sizes.cooldown};
  }
}

// The TrainingJob would be WrongConfiguration and never have pods.
Result<void> check_unit(const TrainingOptions& options, const PodSetDemand& set) {
  const std::string& unit = options.unit;
  if (unit.empty() || unit == kNodeUnit || amount_of(set.pods.requests, unit) > 0) {
    return {};
  }
  return fail(invalid_argument(
      item_field(set.item) + ".generictemplate" + dotted(set.template_path.value_or("")) +
      ".spec.containers: no container requests " + unit + ", in which the operator counts " +
      "TrainingJobs; set the same whole number as request and limit of the container " +
      std::string(kTrainingContainer)));
}

// Of an AppWrapper with TrainingJobs: the operator's settings, and the sizes of its gang.
Result<void> read_wrapped_training(const QueueState& state, const Work& work,
                                   WrapperRecord& record) {
  for (PodSetDemand& set : record.demand.pod_sets) {
    if (!set.training) {
      continue;
    }
    if (!work.plan && !work.from_mcad) {
      TRY(check_unit(state.options.training, set));
    }
    add_options(state.options.training, set.pods);
  }
  const std::vector<PodSetDemand>& sets = record.demand.pod_sets;
  record.elastic = sets.size() == 1 && sets.front().pods.sizes.has_value();
  if (record.elastic) {
    record.written_sizes = sets.front().pods.sizes;
    widen_bounds(work, *record.demand.pod_sets.front().pods.sizes);
  }
  return {};
}

Result<void> join(QueueState& state, const Work& work, WrapperRecord& record, Time now) {
  TRY_ASSIGN(record.demand, work.demand());
  record.elastic = work.sizes.has_value();
  if (work.id.kind == WorkKind::training_job) {
    record.work = std::make_unique<Work>(work);
    record.work->plan.reset();
    record.work->demand = nullptr;
  } else {
    TRY(read_wrapped_training(state, work, record));
  }
  read(work, record);
  const bool planned = work.plan.has_value();
  record.from_mcad = work.from_mcad;
  if (!planned && !record.from_mcad) {
    delay(state, record, work.not_before, now);
    TRY_ASSIGN(record.gang,
               state.core.submit(gang_spec(state, work, record, needs_of(state, record))));
  } else {
    TRY(adopt(state, work, record, now));
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
  if (!work.goes_on) {
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

void change_sizes(QueueState& state, WrapperRecord& record, const sched::Sizes& sizes) {
  std::optional<sched::Sizes>& known = record.demand.pod_sets.front().pods.sizes;
  if (known == sizes || !state.core.set_bounds(record.gang, sizes)) {
    return;
  }
  known = sizes;
  state.drifted.insert(record.id.uid);
}

// The object does not change the places of a known AppWrapper; see Queue::upsert.
void refresh(QueueState& state, const Work& work, WrapperRecord& record) {
  const std::int32_t priority = record.priority;
  const bool held = is_held(record);
  const std::vector<sched::Designation> quota = record.quota;
  const bool suspended = record.suspended;
  if (work.deleting && !record.holds) {
    remove(state, record.id.uid);
    return;
  }
  read(work, record);
  if (work.sizes && record.elastic) {
    change_sizes(state, record, *work.sizes);
  }
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

Result<void> upsert(QueueState& state, const Work& work, Time now) {
  const std::string& uid = work.id.uid;
  if (uid.empty()) {
    return fail(invalid_argument("metadata.uid: required"));
  }
  if (state.done.contains(uid)) {
    return {};
  }
  WrapperRecord* known = state.wrapper(uid);
  // A TrainingJob may be mended while it waits: another pod template is another gang.
  std::unique_ptr<ClusterNotes> notes;
  if (known != nullptr && work.sizes && !known->holds) {
    notes = std::move(known->cluster_notes);
    erase(state, *known);
    known = nullptr;
  }
  if (known != nullptr) {
    refresh(state, work, *known);
    return {};
  }
  if (!work.plan && (work.finished || work.deleting)) {
    return {};
  }
  WrapperRecord& record = state.wrappers[uid];
  record.id = work.id;
  record.cluster_notes = std::move(notes);
  auto joined = join(state, work, record, now);
  if (!joined) {
    end_delay(state, record);
    for (auto* uids : {&state.displaced, &state.touched, &state.drifted}) {
      uids->erase(uid);
    }
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
  if (record->written_sizes) {
    change_sizes(state, *record, *record->written_sizes);
  }
  choose_again(state, *record);
  (void)state.core.set_quota(record->gang, charged_nodes(state, *record));
  record->from_mcad = false;
  delay(state, *record, not_before, now);
  (void)state.core.set_held(record->gang, is_held(*record));
  state.touched.insert(record->id.uid);
}

void wrapped_job_seen(QueueState& state, const model::TrainingJob& job) {
  WrapperRecord* record = state.wrapper(wrapper_of(job));
  if (record == nullptr || !record->written_sizes || !record->holds ||
      !wraps(record->demand, job) || job.metadata.deleting() || is_finished(job.status) ||
      !problems_of(job, state.options.training).empty()) {
    return;
  }
  change_sizes(state, *record, sizes_of(job.spec));
  rates_seen(state, record->id.uid, job.status);
  state.touched.insert(record->id.uid);
}

void rates_seen(QueueState& state, std::string_view uid, const model::TrainingJobStatus& status) {
  WrapperRecord* record = state.wrapper(uid);
  if (record != nullptr && record->elastic && record->holds && record->rates.note(status)) {
    const auto& sizes = record->demand.pod_sets.front().pods.sizes;
    (void)state.core.set_progress(record->gang, record->rates.progress(sizes ? sizes->min : 1));
  }
}

void set_clusters(QueueState& state, std::vector<ClusterInfo> clusters) {
  if (clusters == state.clusters) {
    return;
  }
  state.clusters = std::move(clusters);
  for (auto& [uid, record] : state.wrappers) {
    choose_again(state, record);
  }
}

void set_cluster_notes(QueueState& state, std::string_view uid, ClusterNotes notes) {
  WrapperRecord* record = state.wrapper(uid);
  if (record == nullptr) {
    return;
  }
  if (record->cluster_notes == nullptr) {
    record->cluster_notes = std::make_unique<ClusterNotes>();
  }
  if (*record->cluster_notes != notes) {
    *record->cluster_notes = std::move(notes);
    choose_again(state, *record);
  }
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
  state.done.insert(std::string(uid));
  if (WrapperRecord* record = state.wrapper(uid)) {
    erase(state, *record);
  }
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
  if (record.elastic) {
    state.drifted.insert(record.id.uid);
  }
  state.touched.insert(record.id.uid);
}

bool start_on_machines(QueueState& state, const MachineAsk& ask, Time now) {
  WrapperRecord* record = state.wrapper(ask.work.uid);
  // The pods of those that are bound to this cluster cannot go elsewhere.
  if (record == nullptr || record->holds || record->pinned || is_held(*record) ||
      state.core.paused()) {
    return false;
  }
  const Needs needs = needs_in(ask.cluster, *record);
  record->plan = ask.places;
  std::vector<model::PlannedPlace> lost;
  const sched::Placement placement = placement_of(state, *record, lost);
  if (!state.core.set_pods(record->gang, needs.pods, needs.within) ||
      !state.core.start(record->gang, now, placement)) {
    record->plan.clear();
    choose_again(state, *record);
    return false;
  }
  record->since = now;
  ++record->plan_version;
  begin_holding(state, *record);
  for (const model::PlannedPlace& place : lost) {
    add_lost(state, *record, place);
  }
  state.touched.insert(record->id.uid);
  return true;
}

void resized(QueueState& state, const sched::Resize& resize) {
  const auto found = state.by_gang.find(resize.gang);
  if (found == state.by_gang.end()) {
    return;
  }
  WrapperRecord& record = *found->second;
  for (const sched::Slot& slot : resize.less) {
    std::int64_t left = slot.count;
    // Places without a pod are free at once.
    while (left > 0 && has_reserved(state, record, slot) &&
           state.core.drop_place(record.gang, slot.pod_set, slot.node).value_or(false)) {
      --left;
    }
    if (left > 0) {
      record.leaving.push_back({.pod_set = static_cast<std::int32_t>(slot.pod_set),
                                .node = state.core.node_name(slot.node),
                                .count = left});
    }
  }
  if (!resize.less.empty()) {
    record.shrinks_for = resize.for_gang ? name_of(state, *resize.for_gang) : "";
  }
  state.drifted.insert(record.id.uid);
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
