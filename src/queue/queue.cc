#include "queue/queue.h"

#include "model/managed_cluster.h"
#include "queue/internal/amounts.h"
#include "queue/internal/binder.h"
#include "queue/internal/gang_pods.h"
#include "queue/internal/lost_places.h"
#include "queue/internal/machine_plan.h"
#include "queue/internal/node_events.h"
#include "queue/internal/pod_events.h"
#include "queue/internal/standing_of.h"
#include "queue/internal/state.h"
#include "queue/internal/wrapper_events.h"
#include "queue/marks.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace codeflare::queue {

namespace {

// A step stays short, so that events are heard in between.
constexpr std::size_t kAdmissionsPerStep = 256;

// Reasons follow what is free at this pace: calm enough for statuses that show them.
constexpr Duration kReviewPause = std::chrono::seconds(1);

void touch(QueueState& state, const std::vector<sched::Refusal>& refused) {
  for (const sched::Refusal& refusal : refused) {
    const auto found = state.by_gang.find(refusal.gang);
    if (found != state.by_gang.end()) {
      state.touched.insert(found->second->id.uid);
    }
  }
}

// A while after something has changed: most of what changes does so together.
void review_reasons(QueueState& state, Time now, std::vector<sched::Refusal>& refused) {
  const Time latest = now + kReviewPause;
  if (state.review_at && *state.review_at <= now) {
    const std::vector<sched::Refusal> found = state.core.review(now);
    refused.insert(refused.end(), found.begin(), found.end());
    state.review_at = latest;
  }
  // Calendar time may jump back.
  state.review_at = std::min(state.review_at.value_or(latest), latest);
  if (!state.core.reasons_stale()) {
    state.review_at.reset();
  }
}

// Anybody may write any label: only the controller's namespace has placeholders. Namespaces of
// worker clusters are called CLUSTER/NAMESPACE here.
bool is_placeholder(const model::Pod& pod) {
  std::string_view ns = pod.metadata.ns;
  ns.remove_prefix(ns.rfind('/') + 1);
  return ns == kControllerNamespace && pod.metadata.labels.contains(std::string(kPlaceholderLabel));
}

std::optional<Time> earlier(std::optional<Time> a, std::optional<Time> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

void tell_changes(QueueState& state, StepOutcome& outcome) {
  for (const std::string& uid : std::exchange(state.touched, {})) {
    WrapperRecord* wrapper = state.wrapper(uid);
    if (wrapper == nullptr) {
      continue;
    }
    const Brief brief = brief_of(state, *wrapper);
    if (brief == wrapper->told) {
      continue;
    }
    // Nothing is known yet of one that was not tried: the next step will tell.
    if (brief.reason == Reason::evaluating) {
      state.touched.insert(uid);
      continue;
    }
    wrapper->told = brief;
    outcome.changed.push_back(wrapper->id);
  }
}

}  // namespace

WrapperRecord* QueueState::wrapper(std::string_view uid) {
  const auto found = wrappers.find(uid);
  return found == wrappers.end() ? nullptr : &found->second;
}

const WrapperRecord* QueueState::wrapper(std::string_view uid) const {
  const auto found = wrappers.find(uid);
  return found == wrappers.end() ? nullptr : &found->second;
}

Queue::Queue(QueueOptions options) : state_(std::make_unique<QueueState>(std::move(options))) {}
Queue::~Queue() = default;
Queue::Queue(Queue&&) noexcept = default;
Queue& Queue::operator=(Queue&&) noexcept = default;

void Queue::upsert_node(const model::Node& node) {
  queue::upsert_node(*state_, node);
}

void Queue::remove_node(std::string_view name) {
  queue::remove_node(*state_, name);
}

void Queue::upsert_pod(const model::Pod& pod) {
  if (is_placeholder(pod)) {
    return;
  }
  queue::upsert_pod(*state_, pod);
}

void Queue::remove_pod(const model::ObjectKey& key, std::string_view uid) {
  queue::remove_pod(*state_, key, uid);
}

void Queue::upsert_quota(const model::QuotaSubtree& subtree) {
  state_->quotas.upsert(state_->core, subtree);
  trees_changed(*state_);
}

void Queue::remove_quota(const model::ObjectKey& key) {
  state_->quotas.remove(state_->core, key);
  trees_changed(*state_);
}

void Queue::set_resource_quota(const model::ObjectKey& key, const QuotaRule& rule) {
  queue::set_resource_quota(*state_, key, rule);
}

void Queue::remove_resource_quota(const model::ObjectKey& key) {
  queue::remove_resource_quota(*state_, key);
}

void Queue::set_paused(bool paused) {
  state_->paused = paused;
  state_->core.set_paused(paused || !state_->blocks.empty());
}

bool Queue::paused() const {
  return state_->paused;
}

void Queue::block(Reason why, std::string sentence) {
  if (sentence.empty()) {
    state_->blocks.erase(why);
  } else {
    state_->blocks[why] = std::move(sentence);
  }
  state_->core.set_paused(state_->paused || !state_->blocks.empty());
}

std::string Queue::blocked() const {
  return state_->blocks.empty() ? std::string() : state_->blocks.begin()->second;
}

void Queue::set_clusters(std::vector<ClusterInfo> clusters) {
  queue::set_clusters(*state_, std::move(clusters));
}

const std::vector<ClusterInfo>& Queue::clusters() const {
  return state_->clusters;
}

void Queue::set_cluster_notes(std::string_view uid, ClusterNotes notes) {
  queue::set_cluster_notes(*state_, uid, std::move(notes));
}

void Queue::set_training(TrainingOptions training) {
  if (training != state_->options.training) {
    state_->options.training = std::move(training);
    training_changed(*state_);
  }
}

Result<void> Queue::upsert(const model::AppWrapper& wrapper, Time now, model::WrapperApi api) {
  return queue::upsert(*state_, work_of(wrapper, api, state_->options.user_check, now), now);
}

Result<void> Queue::upsert(const model::TrainingJob& job, Time now) {
  if (!wrapper_of(job).empty()) {
    wrapped_job_seen(*state_, job);
    return {};
  }
  TRY(queue::upsert(*state_, work_of(job, state_->options.training, now), now));
  rates_seen(*state_, job.metadata.uid, job.status);
  return {};
}

void Queue::stopping(std::string_view uid) {
  queue::stopping(*state_, uid);
}

void Queue::withdrawn(std::string_view uid, Time now, std::optional<Time> not_before) {
  queue::withdrawn(*state_, uid, now, not_before);
}

void Queue::remove(std::string_view uid) {
  queue::remove(*state_, uid);
}

void Queue::forget(std::string_view uid) {
  queue::remove(*state_, uid);
  if (const auto at = state_->done.find(uid); at != state_->done.end()) {
    state_->done.erase(at);
  }
}

StepOutcome Queue::step(Time now) {
  StepOutcome outcome;
  release_due(*state_, now);
  mend_plans(*state_);
  find_lost_places(*state_);
  state_->loose_added = false;
  sched::StepResult result = state_->core.step(now, kAdmissionsPerStep);
  review_reasons(*state_, now, result.refused);
  for (const sched::Admission& admission : result.admitted) {
    started(*state_, admission, now);
    bind_loose(*state_, admission, outcome.bindings);
  }
  for (const sched::Resize& resize : result.resized) {
    resized(*state_, resize);
  }
  for (const sched::Eviction& eviction : result.evicted) {
    evicted(*state_, eviction);
  }
  mend_plans(*state_);
  touch(*state_, result.refused);
  bind_gangs(*state_, outcome.bindings);
  tell_unplaced(*state_, result.refused, outcome.unplaced);
  tell_changes(*state_, outcome);
  outcome.wake_at = earlier(result.wake_at, state_->review_at);
  if (!state_->delayed.empty()) {
    outcome.wake_at = earlier(outcome.wake_at, state_->delayed.begin()->first);
  }
  outcome.more = result.more || state_->loose_added;
  return outcome;
}

bool Queue::item_seen(std::string_view uid, const json::Value& object) {
  WrapperRecord* wrapper = state_->wrapper(uid);
  return wrapper != nullptr && queue::item_seen(*state_, *wrapper, object);
}

bool Queue::plan_written(std::string_view uid, const std::vector<model::PlannedPlace>& places) {
  WrapperRecord* record = state_->wrapper(uid);
  if (record == nullptr || !record->plan_unwritten || record->plan != places) {
    return false;
  }
  record->plan_unwritten = false;
  state_->to_bind.insert(record->id.uid);
  return true;
}

void Queue::binding_failed(std::string_view pod_uid) {
  queue::binding_failed(*state_, pod_uid);
}

MachinePlan Queue::plan_machines(const MachineMarket& market, Time now) const {
  return queue::plan_machines(*state_, market, now);
}

bool Queue::start_on_machines(const MachineAsk& ask, Time now) {
  return queue::start_on_machines(*state_, ask, now);
}

bool Queue::set_machine_notes(std::map<std::string, MachineNote> notes) {
  return queue::set_machine_notes(*state_, std::move(notes));
}

bool Queue::set_arrived(std::set<std::string> requests) {
  return queue::set_arrived(*state_, std::move(requests));
}

bool Queue::awaits_request(const std::string& request) const {
  return std::ranges::any_of(state_->machine_notes, [&](const auto& each) {
    return each.second.requests.contains(request);
  });
}

std::optional<Time> Queue::machines_ready(std::string_view uid) const {
  const auto note = state_->machine_notes.find(std::string(uid));
  return note == state_->machine_notes.end() ? std::nullopt : note->second.ready;
}

Queue::NodeUse Queue::node_use(std::string_view node) const {
  NodeUse use;
  const auto found = state_->nodes.find(node);
  if (found == state_->nodes.end()) {
    return use;
  }
  use.planned = found->second.present && !state_->core.residents(found->second.id).empty();
  for (const PodRecord* pod : found->second.pods) {
    if (pod->phase == PodPhase::active) {
      use.pods.push_back(pod->key);
    }
  }
  return use;
}

bool Queue::knows_node(std::string_view node) const {
  const auto found = state_->nodes.find(node);
  return found != state_->nodes.end() && found->second.present;
}

Standing Queue::standing(std::string_view uid) const {
  const WrapperRecord* wrapper = std::as_const(*state_).wrapper(uid);
  return wrapper == nullptr ? Standing{} : standing_of(*state_, *wrapper);
}

Standing::Kind Queue::kind(std::string_view uid) const {
  const WrapperRecord* wrapper = std::as_const(*state_).wrapper(uid);
  return wrapper == nullptr ? Standing::Kind::unknown : brief_of(*state_, *wrapper).kind;
}

std::string Queue::sentence(std::string_view uid, Time now) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  return wrapper == nullptr ? "" : sentence_of(*state_, *wrapper, now);
}

std::optional<WorkId> Queue::id(std::string_view uid) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  if (wrapper == nullptr) {
    return std::nullopt;
  }
  return wrapper->id;
}

const Demand* Queue::demand(std::string_view uid) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  return wrapper == nullptr ? nullptr : &wrapper->demand;
}

std::vector<Queue::Unplanned> Queue::unplanned(std::string_view uid) const {
  std::vector<Unplanned> result;
  const WrapperRecord* wrapper = state_->wrapper(uid);
  if (wrapper == nullptr || !wrapper->holds) {
    return result;
  }
  for (const PodRecord* pod : unplanned_pods(*state_, *wrapper)) {
    result.push_back({pod->key.name, pod->place()});
  }
  return result;
}

std::optional<Queue::Unplaced> Queue::unplaced(std::string_view pod_uid, Time now) const {
  return queue::unplaced(*state_, pod_uid, now);
}

std::vector<WorkId> Queue::line(Time now, std::size_t most) const {
  std::vector<WorkId> result;
  // Loose pods stand in the same line; they are not ours to list.
  const std::size_t loose = state_->loose.size();
  for (const sched::GangId gang : state_->core.queue(now, most + std::min(loose, ~most))) {
    const auto found = state_->by_gang.find(gang);
    if (found == state_->by_gang.end()) {
      continue;
    }
    result.push_back(found->second->id);
    if (result.size() == most) {
      break;
    }
  }
  return result;
}

std::vector<WorkId> Queue::known() const {
  std::vector<WorkId> result;
  for (const auto& [key, wrappers] : state_->by_key) {
    for (const WrapperRecord* wrapper : wrappers) {
      result.push_back(wrapper->id);
    }
  }
  return result;
}

std::vector<WorkId> Queue::find_all(const model::ObjectKey& key) const {
  std::vector<WorkId> result;
  const auto found = state_->by_key.find(key);
  if (found == state_->by_key.end()) {
    return result;
  }
  for (const WrapperRecord* wrapper : found->second) {
    if (wrapper->id.kind == WorkKind::app_wrapper) {
      result.push_back(wrapper->id);
    }
  }
  return result;
}

std::optional<WorkId> Queue::find(const model::ObjectKey& key, WorkKind kind) const {
  std::optional<WorkId> last;
  if (const auto found = state_->by_key.find(key); found != state_->by_key.end()) {
    for (const WrapperRecord* wrapper : found->second) {
      if (wrapper->id.kind == kind) {
        last = wrapper->id;
      }
    }
  }
  return last;
}

model::QuotaSubtreeStatus Queue::quota_status(const model::QuotaSubtree& subtree) const {
  return state_->quotas.status(state_->core, subtree);
}

sched::Resources Queue::outside() const {
  sched::Resources sum;
  for (const auto& [name, node] : state_->nodes) {
    if (node.present) {
      add(sum, node.foreign, 1);
    }
  }
  return sum;
}

std::size_t Queue::waiting() const {
  return state_->wrappers.size() - state_->holding;
}

std::size_t Queue::running() const {
  return state_->holding;
}

std::vector<std::string> Queue::held_in(std::string_view cluster) const {
  std::vector<std::string> uids;
  for (const auto& [uid, wrapper] : state_->wrappers) {
    if (wrapper.holds && cluster_of(wrapper) == cluster) {
      uids.push_back(uid);
    }
  }
  return uids;
}

Queue::NodeTotals Queue::totals(std::string_view cluster) const {
  NodeTotals totals;
  for (const auto& [name, node] : state_->nodes) {
    if (!node.present || !node.ready || node.spec.unschedulable ||
        model::managed_cluster::cluster_of_node(name) != cluster) {
      continue;
    }
    ++totals.nodes;
    add(totals.capacity, node.spec.allocatable, +1);
    sched::Resources free = state_->core.free(node.id);
    std::ranges::sort(free, {}, &sched::Resource::name);
    add(totals.free, free, +1);
  }
  return totals;
}

sched::Core& Queue::core() {
  return state_->core;
}

std::optional<sched::GangId> Queue::gang(std::string_view uid) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  if (wrapper == nullptr) {
    return std::nullopt;
  }
  return wrapper->gang;
}

std::optional<sched::Core::Size> Queue::size(std::string_view uid) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  return wrapper == nullptr ? std::nullopt : state_->core.size(wrapper->gang);
}

std::string Queue::growth_sentence(std::string_view uid, Time now) const {
  const WrapperRecord* wrapper = state_->wrapper(uid);
  return wrapper == nullptr ? "" : queue::growth_sentence(*state_, *wrapper, now);
}

std::string Queue::name_of(sched::GangId gang) const {
  return queue::name_of(*state_, gang);
}

Standing standing_in_wrapper(const Queue& queue, const model::TrainingJob& job) {
  const std::string wrapper = wrapper_of(job);
  const Demand* demand = queue.demand(wrapper);
  if (demand == nullptr || !wraps(*demand, job)) {
    return {};
  }
  Standing standing = queue.standing(wrapper);
  const auto of_others = [&](const model::PlannedPlace& place) {
    const PodSetDemand& set = demand->pod_sets[static_cast<std::size_t>(place.pod_set)];
    return !set.training || demand->items[set.item].key.name != job.metadata.name;
  };
  std::erase_if(standing.plan, of_others);
  std::erase_if(standing.leaving, of_others);
  return standing;
}

}  // namespace codeflare::queue
