#include "sched/internal/growth.h"

#include "sched/internal/best_fit_walk.h"
#include "sched/internal/holdings.h"
#include "sched/internal/squeeze.h"
#include "sched/sizes.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace codeflare::sched {

namespace {

// The worth of growth changes with time alone, slowly.
constexpr Duration kRefreshEvery = std::chrono::minutes(1);
// Holders that are looked at for one gang that wants to grow.
constexpr std::size_t kHoldersMax = 256;

bool on_path(const State& state, const std::vector<Index>& leaves, Index node) {
  bool found = false;
  state.forest.each_on_path(leaves, [&](Index on) { found = found || on == node; });
  return found;
}

// Beyond a limit that may be exceeded, where `other` does not charge.
bool borrows_beside(const State& state, const std::vector<Index>& leaves,
                    const std::vector<Index>& other) {
  bool borrows = false;
  state.forest.each_on_path(leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (node.binding() || on_path(state, other, index)) {
      return;
    }
    for (const Part& limit : node.limits) {
      borrows = borrows || amount_of(node.used, limit.resource) > limit.amount;
    }
  });
  return borrows;
}

// The gang stays within limits where `other` does not charge.
bool within_beside(const State& state, const std::vector<Index>& leaves, const Request& charge,
                   const std::vector<Index>& other) {
  bool within = true;
  state.forest.each_on_path(leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (node.binding() || on_path(state, other, index)) {
      return;
    }
    for (const Part& limit : node.limits) {
      const Amount more = amount_of(charge, limit.resource);
      within = within && (more == 0 || amount_of(node.used, limit.resource) + more <= limit.amount);
    }
  });
  return within;
}

}  // namespace

std::vector<Index> growth_givers(const State& state, Index gang) {
  std::vector<Index> givers;
  const Gang& asking = state.gangs[gang];
  const std::vector<Index>& leaves = state.claims.path_of(asking.claim).leaves;
  const Request& charge = state.shapes[asking.shape].charge;
  std::vector<Index> borrowers;
  for (const HoldKey& key : state.elastics.holders()) {
    const Elastic& holder = state.elastics[key.elastic];
    if (holder.gang == gang) {
      continue;
    }
    const std::vector<Index>& held = state.gangs.run_of(holder.gang).leaves;
    const bool borrows = !held.empty() && borrows_beside(state, held, leaves);
    const bool lower = key.priority <= asking.priority;
    if (borrows && (lower || within_beside(state, leaves, charge, held))) {
      borrowers.push_back(key.elastic);
    } else if (lower) {
      givers.push_back(key.elastic);
    }
  }
  // Borrowers give way first.
  givers.insert(givers.begin(), borrowers.begin(), borrowers.end());
  return givers;
}

GrowthPass::GrowthPass(State& state, Time now, StepResult& result)
    : state_(state),
      now_(now),
      result_(result),
      policy_(growth_policy(state.options.elastic_policy)) {}

double GrowthPass::capacity_unit(const Request& request) const {
  double unit = 0;
  for (const Part& part : request) {
    Amount sum = 0;
    for (const NodeClass& each : state_.cluster.classes()) {
      if (each.nodes > 0 && part.resource < each.capacity_sum.size()) {
        sum += each.capacity_sum[part.resource];
      }
    }
    if (sum > 0) {
      unit = std::max(unit, static_cast<double>(part.amount) / static_cast<double>(sum));
    }
  }
  return unit;
}

GrowthView GrowthPass::view_of(const Elastic& elastic) const {
  const Gang& gang = state_.gangs[elastic.gang];
  const ElasticTable::Queue& queue = state_.elastics.queue_at(elastic.queue);
  const Duration since = std::max(Duration::zero(), now_ - elastic.accrued);
  GrowthView view;
  view.min = elastic.sizes.min;
  view.unit = elastic.unit;
  view.attained = elastic.attained + static_cast<double>(elastic.accruing) *
                                         std::chrono::duration<double>(since).count();
  view.submitted = gang.submitted;
  view.running = now_ - state_.gangs.run_of(elastic.gang).started;
  view.queue_held = queue.held;
  view.queue_weight = queue.weight;
  view.queue = elastic.queue;
  view.progress = &elastic.progress;
  return view;
}

bool GrowthPass::may_grow(const Elastic& elastic, std::int64_t from, std::int64_t to) {
  const Gang& gang = state_.gangs[elastic.gang];
  if (state_.paused && !state_.claims.path_of(gang.claim).loose) {
    return false;
  }
  if (to == 0) {
    return false;
  }
  if (from < elastic.sizes.min) {
    return true;
  }
  const bool cools = elastic.ever_resized && elastic.resized < now_ &&
                     now_ < elastic.resized + cooldown_of(state_, elastic);
  if (cools) {
    return false;
  }
  const GrowthView view = view_of(elastic);
  // Where the gang starts or is being resized anyway, more of it costs nothing.
  const bool interrupted =
      view.running <= Duration::zero() || (elastic.ever_resized && elastic.resized == now_);
  return policy_.pays(view, from, to, interrupted ? Duration::zero() : state_.options.resize_cost);
}

WantKey GrowthPass::want_key(const Elastic& elastic, std::int64_t from, std::int64_t to) const {
  const Gang& gang = state_.gangs[elastic.gang];
  WantKey key{gang.priority, policy_.worth(view_of(elastic), from, to), gang.submitted,
              gang.elastic};
  if (from < elastic.sizes.min) {
    key.worth = {.queue = std::numeric_limits<double>::max()};
  }
  return key;
}

void GrowthPass::keep_within_bounds(Index index) {
  Elastic& elastic = state_.elastics[index];
  if (elastic.planned() <= elastic.sizes.max) {
    return;
  }
  cancel_coming(state_, index);
  std::int64_t more = elastic.planned() - size_within(elastic.sizes, elastic.planned());
  std::vector<TakenGrowth> taken;
  for (auto slot = elastic.grown.rbegin(); slot != elastic.grown.rend() && more > 0; ++slot) {
    const std::int64_t part = std::min(more, slot->count);
    taken.push_back({index, slot->node, part});
    more -= part;
  }
  shrink(state_, taken, std::nullopt, now_, result_);
}

void GrowthPass::count_share(Index index) {
  Elastic& elastic = state_.elastics[index];
  if (!elastic.active) {
    return;
  }
  elastic.unit = capacity_unit(elastic_request(state_, elastic));
  const double share = static_cast<double>(elastic.planned()) * elastic.unit;
  ElasticTable::Queue& queue = state_.elastics.queue_at(elastic.queue);
  queue.held += share - std::exchange(elastic.share, share);
}

void GrowthPass::rank_holder(Index index) {
  const Elastic& elastic = state_.elastics[index];
  const std::int64_t size = elastic.planned();
  if (!elastic.active || size <= elastic.sizes.min) {
    state_.elastics.unhold(index);
    return;
  }
  const std::int64_t before = std::max(size_within(elastic.sizes, size - 1), elastic.sizes.min);
  state_.elastics.hold(
      index, {state_.gangs[elastic.gang].priority, policy_.worth(view_of(elastic), before, size),
              state_.gangs.run_of(elastic.gang).started, index});
}

void GrowthPass::refresh_dirty() {
  const std::vector<Index> dirty = state_.elastics.take_dirty();
  // All shares first: they count in everybody's worth.
  for (const Index index : dirty) {
    count_share(index);
  }
  for (const Index index : dirty) {
    refresh(index);
  }
}

void GrowthPass::refresh(Index index) {
  Elastic& elastic = state_.elastics[index];
  if (!elastic.active) {
    return;
  }
  keep_within_bounds(index);
  const Duration since = std::max(Duration::zero(), now_ - elastic.accrued);
  elastic.attained +=
      static_cast<double>(elastic.accruing) * std::chrono::duration<double>(since).count();
  elastic.accrued = now_;
  elastic.accruing = elastic.base + total(elastic.grown);
  const std::int64_t size = elastic.planned();
  count_share(index);
  rank_holder(index);
  const std::int64_t next = size_above(elastic.sizes, size);
  if (next != 0 && size != size_within(elastic.sizes, size) && elastic.coming.empty()) {
    odd_.push_back(index);
  }
  if (!may_grow(elastic, size, next)) {
    const GrowthLaneKey left = elastic.lane;
    const bool wanted = elastic.wants;
    state_.elastics.unwant(index);
    if (wanted) {
      list_head(left);
    }
    return;
  }
  const Gang& gang = state_.gangs[elastic.gang];
  const ShapeSet& set = elastic_set(state_, elastic);
  const GrowthLaneKey lane{set.kind, state_.claims[gang.claim].path, next - size,
                           set.apart != 0 ? index : kNone};
  const GrowthLaneKey left = elastic.wants ? elastic.lane : lane;
  state_.elastics.want(index, lane, want_key(elastic, size, next));
  list_head(left);
  list_head(lane);
}

void GrowthPass::list_head(const GrowthLaneKey& key) {
  const auto found = state_.elastics.lanes().find(key);
  if (found != state_.elastics.lanes().end() && !found->second.asleep) {
    heads_.insert(*found->second.line.begin());
  }
}

void GrowthPass::refresh_all_if_due() {
  const bool changed =
      state_.elastics.any_dirty() || state_.growth_stir || !state_.grown_nodes.empty();
  const bool aged = now_ - state_.elastics.refreshed >= kRefreshEvery;
  // Shares are of all that the queue and the cluster have: what one gets changes others.
  const bool due = (state_.options.elastic_policy == ElasticPolicy::fair && changed) ||
                   (state_.options.elastic_policy == ElasticPolicy::throughput && aged);
  if (!due) {
    return;
  }
  state_.elastics.refreshed = now_;
  for (Index index = 0; index < state_.elastics.all().size(); ++index) {
    if (state_.elastics[index].active) {
      state_.elastics.touch(index);
    }
  }
  state_.elastics.wake_lanes();
}

// Lanes that a node which grew can help, or anything that no node tells of.
void GrowthPass::wake() {
  if (std::exchange(state_.growth_stir, false)) {
    state_.elastics.wake_lanes();
    state_.grown_nodes.clear();
    return;
  }
  const Cluster& cluster = state_.cluster;
  std::vector<Amount> row;
  for (const Index node : std::exchange(state_.grown_nodes, {})) {
    if (!cluster.nodes()[node].alive) {
      continue;
    }
    row.assign(cluster.free(node), cluster.free(node) + cluster.order().resources);
    add_elastic_holdings(state_, node, row);
    for (auto& [key, lane] : state_.elastics.lanes()) {
      if (lane.asleep && fits(row.data(), cluster.kind(key.kind).request)) {
        lane.asleep = false;
      }
    }
  }
}

bool GrowthPass::is_clear(const Elastic& elastic) const {
  const Request& request = elastic_request(state_, elastic);
  for (const GrownSlot& slot : elastic.coming) {
    for (const Part& part : request) {
      if (state_.cluster.free(slot.node)[part.resource] < 0) {
        return false;
      }
    }
  }
  bool clear = true;
  const Request& charge = elastic_set(state_, elastic).charge;
  state_.forest.each_on_path(state_.gangs.run_of(elastic.gang).leaves, [&](Index index) {
    const QuotaState& node = state_.forest[index];
    for (const Part& limit : node.limits) {
      if (node.binding() && amount_of(charge, limit.resource) > 0 &&
          amount_of(node.used, limit.resource) > limit.amount) {
        clear = false;
      }
    }
  });
  return clear;
}

void GrowthPass::settle_coming(bool may_cancel) {
  const std::vector<Index> waiting = state_.elastics.coming;
  for (const Index index : waiting) {
    Elastic& elastic = state_.elastics[index];
    if (!is_clear(elastic)) {
      if (may_cancel && state_.elastics.leaving == 0 && state_.draining == 0) {
        cancel_coming(state_, index);
      }
      continue;
    }
    arrive(state_, index, now_, result_);
  }
}

void GrowthPass::settle() {
  if (state_.elastics.empty()) {
    return;
  }
  settle_coming(true);
  // Gangs that wait look for those who give way before run() looks at what has changed.
  for (const Index index : state_.elastics.dirty()) {
    count_share(index);
  }
  for (const Index index : state_.elastics.dirty()) {
    rank_holder(index);
  }
}

void GrowthPass::run() {
  if (state_.elastics.active() == 0) {
    state_.grown_nodes.clear();
    return;
  }
  while (!state_.elastics.cooling.empty() && state_.elastics.cooling.begin()->first <= now_) {
    const Index index = state_.elastics.cooling.begin()->second;
    state_.elastics.cooling.erase(state_.elastics.cooling.begin());
    if (state_.elastics[index].active) {
      state_.elastics.touch(index);
    }
  }
  refresh_all_if_due();
  wake();
  refresh_dirty();
  for (const auto& [key, lane] : state_.elastics.lanes()) {
    list_head(key);
  }
  grow_all();
  round_sizes();
  settle_coming(false);
  refresh_dirty();
  note_wake();
}

void GrowthPass::grow_all() {
  while (!heads_.empty()) {
    const WantKey key = *heads_.begin();
    heads_.erase(heads_.begin());
    Elastic& elastic = state_.elastics[key.elastic];
    if (!elastic.wants) {
      continue;
    }
    const GrowthLaneKey at = elastic.lane;
    GrowthLane& lane = state_.elastics.lanes().at(at);
    if (lane.asleep || lane.line.begin()->elastic != key.elastic) {
      list_head(at);
      continue;
    }
    const std::int64_t size = elastic.planned();
    if (!may_grow(elastic, size, size + at.increment)) {
      state_.elastics.unwant(key.elastic);
      list_head(at);
      continue;
    }
    // Others of its queue may have grown meanwhile.
    const WantKey fresh = want_key(elastic, size, size + at.increment);
    if (key < fresh) {
      state_.elastics.want(key.elastic, at, fresh);
      list_head(at);
      continue;
    }
    if (!grow_on_free(key.elastic, at.increment) && !grow_by_taking(key.elastic, at.increment)) {
      lane.asleep = true;
      continue;
    }
    refresh(key.elastic);
    list_head(at);
  }
}

// First on nodes that it has, then best fit.
bool GrowthPass::grow_on_free(Index index, std::int64_t count) {
  Elastic& elastic = state_.elastics[index];
  const Run& run = state_.gangs.run_of(elastic.gang);
  Shape part = elastic_part(state_, elastic, count);
  if (state_.forest.shortage(run.leaves, part.charge)) {
    return false;
  }
  const Kind& kind = state_.cluster.kind(part.groups.front().kind);
  std::vector<Share> shares;
  std::int64_t left = count;
  if (part.groups.front().apart == 0) {
    std::vector<Index> own;
    each_holding(state_, run, [&](Index node, const Request&, std::int64_t) {
      if (std::ranges::find(own, node) == own.end()) {
        own.push_back(node);
      }
    });
    for (const Index node : own) {
      const auto& classes = kind.classes;
      const bool allowed =
          std::ranges::find(classes, state_.cluster.nodes()[node].node_class) != classes.end() &&
          state_.cluster.allows(kind, node);
      const std::int64_t here =
          allowed ? room(state_.cluster, kind, node, nullptr, left) : std::int64_t{0};
      if (here > 0) {
        shares.push_back({0, node, here});
        state_.cluster.take(node, kind.request, here);
        left -= here;
      }
    }
  }
  if (left > 0) {
    part.groups.front().count = left;
    const Placed placed = place(state_.cluster, part, nullptr, state_.options.search_steps_max);
    if (!placed.ok()) {
      unplace(state_.cluster, part, nullptr, shares);
      return false;
    }
    shares.insert(shares.end(), placed.shares.begin(), placed.shares.end());
  }
  add_growth(state_, index, shares, false);
  announce(state_, index, shares, now_, result_);
  return true;
}

bool GrowthPass::gives_way(const Elastic& giver, const Elastic& taker, const Worth& gain) const {
  const std::int32_t theirs = state_.gangs[giver.gang].priority;
  const std::int32_t ours = state_.gangs[taker.gang].priority;
  if (theirs != ours) {
    return theirs < ours;
  }
  if (taker.planned() < taker.sizes.min) {
    return true;
  }
  const std::int64_t size = giver.planned();
  const std::int64_t before = std::max(size_within(giver.sizes, size - 1), giver.sizes.min);
  return policy_.trades(gain, policy_.worth(view_of(giver), before, size));
}

bool GrowthPass::grow_by_taking(Index index, std::int64_t count) {
  Elastic& elastic = state_.elastics[index];
  const std::int64_t size = elastic.planned();
  const Worth gain = policy_.worth(view_of(elastic), size, size + count);
  const std::int32_t priority = state_.gangs[elastic.gang].priority;
  std::vector<Index> givers;
  std::size_t looked = 0;
  for (const HoldKey& key : state_.elastics.holders()) {
    if (key.priority > priority || looked++ == kHoldersMax) {
      break;
    }
    if (key.elastic == index) {
      continue;
    }
    if (gives_way(state_.elastics[key.elastic], elastic, gain)) {
      givers.push_back(key.elastic);
    } else if (key.priority == priority && key.worth.queue >= gain.queue) {
      break;
    }
  }
  const bool counts_on_leaving = state_.elastics.leaving > 0 || state_.draining > 0;
  if (givers.empty() && !counts_on_leaving) {
    return false;
  }
  const Shape part = elastic_part(state_, elastic, count);
  Lifting lifting(state_, part, state_.gangs.run_of(elastic.gang).leaves);
  lifting.lift_leaving();
  Squeeze squeeze(state_, lifting, part, givers, [&](const Elastic& giver) {
    const std::int64_t all = giver.planned() - giver.sizes.min;
    // Between equals the last increment was weighed, not more.
    const std::int64_t last = giver.planned() - size_within(giver.sizes, giver.planned() - 1);
    return state_.gangs[giver.gang].priority < priority ? all : std::min(all, last);
  });
  const bool found = squeeze.run();
  if (found) {
    squeeze.spare([&] {
      const Placed again = lifting.shortage() ? Placed{.outcome = Placed::Outcome::not_together}
                                              : lifting.try_place();
      if (again.ok()) {
        lifting.unplace(again);
      }
      return again.ok();
    });
  }
  const std::vector<TakenGrowth> taken = lifting.growth();
  const Placed placed = found ? lifting.try_place() : Placed{};
  lifting.restore_all();
  if (!found) {
    return false;
  }
  shrink(state_, taken, state_.gangs.id(elastic.gang), now_, result_);
  add_growth(state_, index, placed.shares, true);
  // The next increment is weighed against what they have left.
  for (const TakenGrowth& each : taken) {
    count_share(each.elastic);
    rank_holder(each.elastic);
  }
  return true;
}

// A size that is not allowed and could not grow to the next one falls to the one below.
void GrowthPass::round_sizes() {
  for (const Index index : std::exchange(odd_, {})) {
    Elastic& elastic = state_.elastics[index];
    const std::int64_t size = elastic.planned();
    const std::int64_t allowed = size_within(elastic.sizes, size);
    if (!elastic.active || allowed == 0 || allowed == size || !elastic.coming.empty()) {
      continue;
    }
    const GrownSlot last = elastic.grown.back();
    shrink(state_, {{index, last.node, 1}}, std::nullopt, now_, result_);
  }
}

void GrowthPass::note_wake() {
  const auto wake_at = [&](Time time) {
    if (!result_.wake_at || time < *result_.wake_at) {
      result_.wake_at = time;
    }
  };
  if (!state_.elastics.cooling.empty()) {
    wake_at(state_.elastics.cooling.begin()->first);
  }
  const bool drifts = state_.options.elastic_policy == ElasticPolicy::throughput &&
                      !state_.elastics.holders().empty() && !state_.elastics.lanes().empty();
  if (drifts) {
    wake_at(state_.elastics.refreshed + kRefreshEvery);
  }
}

}  // namespace codeflare::sched
