#include "sched/core.h"

#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/invariants.h"
#include "sched/internal/order.h"
#include "sched/internal/pass.h"
#include "sched/internal/questions.h"
#include "sched/internal/state.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

const std::string kNobody;

Result<Index> checked(const State& state, GangId gang) {
  const Index index = state.gangs.checked(gang);
  if (index == kNone) {
    return fail(not_found("gang does not exist"));
  }
  return index;
}

Result<Index> checked(const State& state, NodeId node) {
  const auto& nodes = state.cluster.nodes();
  if (node.index >= nodes.size() || !nodes[node.index].alive ||
      nodes[node.index].generation != node.generation) {
    return fail(not_found("node does not exist"));
  }
  return node.index;
}

}  // namespace

Core::Core(Options options) : state_(std::make_unique<State>(std::move(options))) {}
Core::Core(std::unique_ptr<State> state) : state_(std::move(state)) {}
Core::~Core() = default;
Core::Core(Core&&) noexcept = default;
Core& Core::operator=(Core&&) noexcept = default;

Core Core::clone() const {
  return Core(std::make_unique<State>(*state_));
}

Result<NodeId> Core::upsert_node(const NodeSpec& spec) {
  TRY_ASSIGN(const Index node, state_->cluster.upsert(spec));
  node_changed(*state_, node);
  return NodeId{node, state_->cluster.nodes()[node].generation};
}

std::vector<GangId> Core::remove_node(NodeId node) {
  const auto index = checked(*state_, node);
  return index ? lose_node(*state_, *index) : std::vector<GangId>{};
}

Result<void> Core::set_foreign(NodeId node, const Resources& usage) {
  TRY_ASSIGN(const Index index, checked(*state_, node));
  const Request amounts = state_->cluster.resources().used(usage);
  state_->cluster.sync_width();
  state_->cluster.set_foreign(index, amounts);
  node_changed(*state_, index);
  return {};
}

std::vector<std::string> Core::set_quota_tree(const std::string& tree, std::vector<QuotaNode> nodes,
                                              const std::string& only_ns) {
  auto problems = state_->forest.set_tree(tree, nodes, only_ns, state_->cluster.resources());
  state_->cluster.sync_width();
  forest_changed(*state_);
  return problems;
}

void Core::remove_quota_tree(const std::string& tree) {
  state_->forest.remove_tree(tree);
  forest_changed(*state_);
}

Result<void> Core::set_quota_foreign(const std::string& tree, const std::string& node,
                                     const Resources& usage) {
  const Request amounts = state_->cluster.resources().used(usage);
  state_->cluster.sync_width();
  return state_->forest.set_foreign(tree, node, amounts);
}

void Core::set_paused(bool paused) {
  if (state_->paused == paused) {
    return;
  }
  state_->paused = paused;
  if (paused) {
    return;
  }
  // Gangs kept by the pause alone have no other alarm.
  state_->stir = true;
  touch_elastics(*state_);
  // Of gangs that are alike a step reports a new reason for the first alone. The pause may have
  // been reported for all, so the next step reports the reason of all.
  for (Index gang = 0; gang < state_->gangs.all().size(); ++gang) {
    Gang& waits = state_->gangs[gang];
    if (waits.alive && waits.lane != kNone && !waits.fresh) {
      waits.fresh = true;
      state_->fresh.push_back(gang);
    }
  }
}

bool Core::paused() const {
  return state_->paused;
}

Result<GangId> Core::submit(GangSpec spec) {
  TRY_ASSIGN(const Index gang, create_gang(*state_, std::move(spec)));
  return state_->gangs.id(gang);
}

namespace {

Result<void> check_places(const State& state, const std::string& gang, std::size_t pod_sets,
                          const Placement& placement) {
  for (const Slot& slot : placement) {
    TRY(checked(state, slot.node));
    if (slot.pod_set >= pod_sets || slot.count < 0 || slot.count > kAmountMax) {
      return fail(invalid_argument("gang " + gang + ": a place of pod set " +
                                   std::to_string(slot.pod_set) + " that it does not have"));
    }
  }
  return {};
}

}  // namespace

Result<void> Core::start(GangId gang, Time now, const Placement& placement) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  const Gang& starting = state_->gangs[index];
  TRY(check_places(*state_, starting.name, state_->shapes[starting.shape].sets.size(), placement));
  return start_gang(*state_, index, now, placement);
}

Result<GangId> Core::adopt(GangSpec spec, Time started, const Placement& placement) {
  TRY(check_places(*state_, spec.name, spec.pod_sets.size(), placement));
  TRY_ASSIGN(const Index gang, adopt_gang(*state_, std::move(spec), started, placement));
  return state_->gangs.id(gang);
}

Result<void> Core::remove(GangId gang) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  remove_gang(*state_, index);
  return {};
}

Result<void> Core::drain(GangId gang) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return drain_gang(*state_, index);
}

Result<void> Core::requeue(GangId gang, Time now) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return requeue_gang(*state_, index, now);
}

Result<void> Core::set_priority(GangId gang, std::int32_t priority) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  change_priority(*state_, index, priority);
  return {};
}

Result<void> Core::set_held(GangId gang, bool held) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  hold_gang(*state_, index, held);
  return {};
}

Result<void> Core::set_quota(GangId gang, std::vector<Designation> quota) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  change_quota(*state_, index, std::move(quota));
  return {};
}

Result<void> Core::set_pods(GangId gang, const std::vector<PodSet>& pod_sets,
                            const Within& within) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return change_pods(*state_, index, pod_sets, within);
}

Result<void> Core::set_bounds(GangId gang, Sizes sizes) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return change_bounds(*state_, index, std::move(sizes));
}

Result<void> Core::set_progress(GangId gang, Progress progress) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return change_progress(*state_, index, std::move(progress));
}

void Core::set_queue_weight(const std::string& queue, double weight) {
  ElasticTable& elastics = state_->elastics;
  elastics.queue_at(elastics.queue(queue)).weight = weight > 0 ? weight : 1;
  state_->growth_stir = true;
}

std::optional<Core::Size> Core::size(GangId gang) const {
  const Index index = state_->gangs.checked(gang);
  if (index == kNone || state_->gangs[index].elastic == kNone) {
    return std::nullopt;
  }
  const Elastic& elastic = state_->elastics[state_->gangs[index].elastic];
  Size size{elastic.planned(), total(elastic.coming), total(elastic.leaving), elastic.sizes};
  if (elastic.ever_resized) {
    size.grows_from = elastic.resized + cooldown_of(*state_, elastic);
  }
  return size;
}

Result<bool> Core::pod_bound(GangId gang, const std::string& pod, std::uint32_t pod_set,
                             NodeId node, const Resources& requests,
                             const std::optional<Resources>& charge) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  TRY_ASSIGN(const Index at, checked(*state_, node));
  ResourceTable& resources = state_->cluster.resources();
  Request request = resources.used(requests);
  Request charged = charge ? resources.used(*charge) : request;
  state_->cluster.sync_width();
  return bind_pod(*state_, index, {pod, pod_set, at, std::move(request), std::move(charged)});
}

Result<void> Core::pod_ended(GangId gang, const std::string& pod, bool replaced) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return end_pod(*state_, index, pod, replaced);
}

Result<bool> Core::drop_place(GangId gang, std::uint32_t pod_set, std::optional<NodeId> node) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  const Index at = node ? checked(*state_, *node).value_or(kNone) : kNone;
  return sched::drop_place(*state_, index, pod_set, at);
}

Result<bool> Core::find_places(GangId gang, const std::vector<std::int64_t>& counts) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return sched::find_places(*state_, index, counts);
}

Result<bool> Core::move_place(GangId gang, std::uint32_t pod_set, NodeId from) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  TRY(checked(*state_, from));
  return sched::move_place(*state_, index, pod_set, from.index);
}

Result<void> Core::give_places(GangId gang, const Placement& placement) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  for (const Slot& slot : placement) {
    TRY(checked(*state_, slot.node));
  }
  return sched::give_places(*state_, index, placement);
}

StepResult Core::step(Time now, std::size_t admissions_max) {
  StepResult result;
  Pass(*state_, now, admissions_max, result).run();
  return result;
}

bool Core::reasons_stale() const {
  return state_->lanes.waiting() > 0 &&
         (state_->review_left > 0 || state_->reviewed_at != state_->cluster.changes());
}

std::vector<Refusal> Core::review(Time now) {
  StepResult result;
  if (reasons_stale()) {
    Pass(*state_, now, 0, result).review();
  }
  return std::move(result.refused);
}

Result<Explanation> Core::explain(GangId gang, Time now, Detail detail) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return sched::explain(*state_, index, now, detail);
}

Result<Advice> Core::advise(GangId gang, Time now) {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return sched::advise(*state_, index, now);
}

Result<std::vector<Holder>> Core::holders(GangId gang, Time now, std::size_t most) const {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return sched::holders(*state_, index, now, most);
}

Result<Estimate> Core::estimate(GangId gang, Time now) const {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return sched::estimate(*state_, index, now);
}

MachineAnswer Core::machines(const MachineQuestion& question, Time now) {
  return sched::machines(*state_, question, now);
}

std::vector<GangId> Core::queue(Time now, std::size_t most) const {
  std::vector<GangId> line;
  for (const Index gang : line_of(*state_, now, most)) {
    line.push_back(state_->gangs.id(gang));
  }
  return line;
}

std::optional<ReservationReport> Core::reservation() const {
  return reservation_report(*state_);
}

std::optional<GangId> Core::find(std::string_view name) const {
  const Index gang = state_->gangs.find(name);
  if (gang == kNone) {
    return std::nullopt;
  }
  return state_->gangs.id(gang);
}

std::optional<NodeId> Core::find_node(std::string_view name) const {
  const Index node = state_->cluster.find(name);
  if (node == kNone) {
    return std::nullopt;
  }
  return NodeId{node, state_->cluster.nodes()[node].generation};
}

const std::string& Core::name(GangId gang) const {
  const Index index = state_->gangs.checked(gang);
  return index == kNone ? kNobody : state_->gangs[index].name;
}

const std::string& Core::node_name(NodeId node) const {
  const auto index = checked(*state_, node);
  return index ? state_->cluster.nodes()[*index].name : kNobody;
}

std::vector<GangId> Core::residents(NodeId node) const {
  std::vector<GangId> gangs;
  const auto index = checked(*state_, node);
  if (!index) {
    return gangs;
  }
  for (const Resident& each : state_->cluster.nodes()[*index].residents) {
    gangs.push_back(state_->gangs.id(each.gang));
  }
  return gangs;
}

Result<GangState> Core::state(GangId gang) const {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return state_->gangs[index].state;
}

Result<Reason> Core::why(GangId gang) const {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  return why_of(*state_, index);
}

bool Core::awaits_quota(GangId gang) const {
  const Index index = state_->gangs.checked(gang);
  return index != kNone && state_->gangs[index].state == GangState::nominated &&
         !quota_beyond(*state_, state_->gangs.run_of(index)).empty();
}

Result<Placement> Core::reserved(GangId gang) const {
  TRY_ASSIGN(const Index index, checked(*state_, gang));
  if (state_->gangs[index].run == kNone) {
    return Placement{};
  }
  return placement_of(*state_, state_->gangs.run_of(index));
}

Core::Held Core::held(GangId gang, std::uint32_t pod_set) const {
  Held held;
  const Index index = state_->gangs.checked(gang);
  if (index == kNone || state_->gangs[index].run == kNone) {
    return held;
  }
  const Run& run = state_->gangs.run_of(index);
  for (const HeldSlot& place : run.places) {
    held.reserved += place.pod_set == pod_set ? place.count : 0;
  }
  for (const BoundPod& pod : run.pods) {
    held.bound += pod.pod_set == pod_set ? 1 : 0;
  }
  if (pod_set < run.unplaced.size()) {
    held.unplaced = run.unplaced[pod_set];
  }
  return held;
}

Resources Core::free(NodeId node) const {
  Resources result;
  const auto index = checked(*state_, node);
  if (!index) {
    return result;
  }
  for (Index r = 0; r < state_->cluster.resources().size(); ++r) {
    const bool known = state_->cluster.allocatable(*index)[r] != 0;
    const Amount amount = state_->cluster.free(*index)[r];
    if (known || amount != 0) {
      result.push_back({state_->cluster.resources().name(r), amount});
    }
  }
  return result;
}

Resources Core::quota_used(const std::string& tree, const std::string& node) const {
  const Index index = state_->forest.find(tree, node);
  if (index == kNone) {
    return {};
  }
  const QuotaState& found = state_->forest[index];
  Request used;
  for (const Part& limit : found.limits) {
    used.push_back({limit.resource, amount_of(found.used, limit.resource)});
  }
  for (const Part& part : found.used) {
    const bool limited = std::any_of(
        used.begin(), used.end(), [&](const Part& each) { return each.resource == part.resource; });
    if (!limited) {
      used.push_back(part);
    }
  }
  return state_->cluster.resources().named(used);
}

std::size_t Core::waiting() const {
  return state_->gangs.size() - state_->gangs.running();
}

std::size_t Core::running() const {
  return state_->gangs.running();
}

std::size_t Core::memory_bytes() const {
  return state_->cluster.memory_bytes() + state_->gangs.memory_bytes() +
         state_->lanes.memory_bytes() + state_->shapes.memory_bytes() +
         (state_->ready.capacity() + state_->fresh.capacity()) * sizeof(Index);
}

Result<void> Core::check_invariants() const {
  return sched::check_invariants(*state_);
}

}  // namespace codeflare::sched
