#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/quota_ranks.h"
#include "sched/internal/reserve.h"
#include "sched/sizes.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

constexpr std::uint32_t kNoSet = ~std::uint32_t{0};

// The pod set of several sizes, which counts with its minimum; kNoSet if there is none.
Result<std::uint32_t> elastic_set_of(GangSpec& spec) {
  std::uint32_t found = kNoSet;
  for (std::uint32_t i = 0; i < spec.pod_sets.size(); ++i) {
    PodSet& set = spec.pod_sets[i];
    if (!set.sizes) {
      continue;
    }
    if (found != kNoSet) {
      return fail(invalid_argument("pod sets " + std::to_string(found) + " and " +
                                   std::to_string(i) + " have several sizes, one may"));
    }
    TRY(check_sizes(*set.sizes));
    set.count = set.sizes->min;
    found = i;
  }
  return found;
}

// The record of a new gang, not yet in line.
Result<Index> record(State& state, GangSpec spec) {
  if (spec.name.empty()) {
    return fail(invalid_argument("a gang has no name"));
  }
  if (state.gangs.find(spec.name) != kNone) {
    return fail(already_exists("gang " + spec.name + " is known already"));
  }
  if (spec.limit < Duration::zero() || spec.expected < Duration::zero()) {
    return fail(invalid_argument("gang " + spec.name + ": a duration is negative"));
  }
  auto elastic = elastic_set_of(spec);
  if (!elastic) {
    return fail(std::move(elastic).error().with_context("gang " + spec.name));
  }
  auto shape = state.shapes.acquire(state.cluster, spec.pod_sets, spec.within);
  if (!shape) {
    return fail(std::move(shape).error().with_context("gang " + spec.name));
  }
  const Index claim =
      state.claims.acquire(state.forest, {std::move(spec.quota), spec.ns, spec.loose});
  const Index gang = state.gangs.add(std::move(spec.name));
  Gang& added = state.gangs[gang];
  added.submitted = spec.submitted;
  added.expected = spec.expected;
  added.limit = spec.limit;
  added.consumed = spec.consumed;
  added.slope = state.options.priority_slope ? spec.slope : 0;
  added.priority = spec.priority;
  added.shape = *shape;
  added.claim = claim;
  added.held = spec.held;
  added.preemptible = spec.preemptible;
  added.pausable = spec.pausable;
  if (*elastic != kNoSet) {
    added.elastic = state.elastics.add(gang, *elastic, *spec.pod_sets[*elastic].sizes, spec.queue);
  }
  return gang;
}

void leave_line(State& state, Index gang) {
  if (state.reservation && state.reservation->gang == gang) {
    drop_reservation(state);
  }
  dequeue(state, gang);
}

void forget_run(State& state, Index gang) {
  Gang& ending = state.gangs[gang];
  if (ending.state == GangState::draining) {
    --state.draining;
  }
  if (ending.state == GangState::nominated) {
    std::erase(state.nominated, gang);
  }
  end_run(state, gang);
  ending.state = GangState::waiting;
}

}  // namespace

Result<Index> create_gang(State& state, GangSpec spec) {
  TRY_ASSIGN(const Index gang, record(state, std::move(spec)));
  enqueue(state, gang);
  return gang;
}

namespace {

// It runs with these places; the rest of its pods have no node.
void run_at(State& state, Index gang, Time started, const Placement& placement) {
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  const Index index = state.gangs.add_run(gang);
  Run& run = state.gangs.run(index);
  run.started = started;
  run.leaves = state.forest.resolve_running(state.claims[state.gangs[gang].claim].asked);
  run.charge = shape.charge;
  for (const ShapeSet& set : shape.sets) {
    run.unplaced.push_back(set.count);
  }
  const Index elastic = state.gangs[gang].elastic;
  if (elastic != kNone) {
    const Elastic& grown = state.elastics[elastic];
    // Places beyond the minimum are growth; those that are missing are asked for like it.
    run.unplaced[grown.pod_set] = grown.sizes.max;
    add(run.charge, shape.sets[grown.pod_set].charge, -grown.sizes.min);
  }
  for (const Slot& slot : placement) {
    std::int64_t& left = run.unplaced[slot.pod_set];
    const std::int64_t count = std::min(slot.count, left);
    if (count == 0) {
      continue;
    }
    left -= count;
    if (elastic != kNone && state.elastics[elastic].pod_set == slot.pod_set) {
      add(run.charge, shape.sets[slot.pod_set].charge, count);
    }
    run.places.push_back({slot.pod_set, slot.node.index, count});
    state.cluster.take(slot.node.index, state.cluster.kind(shape.sets[slot.pod_set].kind).request,
                       count);
    state.cluster.add_resident(slot.node.index, gang, count);
  }
  state.gangs[gang].state = GangState::running;
  if (elastic != kNone) {
    run.unplaced[state.elastics[elastic].pod_set] = 0;
    begin_elastic(state, elastic, started);
  }
  state.forest.charge(run.leaves, run.charge, +1);
  join_ranks(state, run);
}

}  // namespace

Result<Index> adopt_gang(State& state, GangSpec spec, Time started, const Placement& placement) {
  TRY_ASSIGN(const Index gang, record(state, std::move(spec)));
  run_at(state, gang, started, placement);
  return gang;
}

Result<void> start_gang(State& state, Index gang, Time now, const Placement& placement) {
  const Gang& starting = state.gangs[gang];
  if (starting.run != kNone || starting.held || starting.elastic != kNone) {
    return fail(failed_precondition("gang " + starting.name + " cannot be started: it is held, " +
                                    "has several sizes, or holds places"));
  }
  leave_line(state, gang);
  run_at(state, gang, now, placement);
  return {};
}

void remove_gang(State& state, Index gang) {
  if (state.gangs[gang].run != kNone) {
    forget_run(state, gang);
  } else {
    leave_line(state, gang);
  }
  if (state.gangs[gang].elastic != kNone) {
    state.elastics.remove(state.gangs[gang].elastic);
  }
  state.shapes.release(state.cluster, state.gangs[gang].shape);
  state.claims.release(state.gangs[gang].claim);
  state.gangs.remove(gang);
}

Result<void> drain_gang(State& state, Index gang) {
  Gang& leaving = state.gangs[gang];
  if (leaving.state == GangState::draining) {
    return {};
  }
  if (leaving.state != GangState::running) {
    return fail(failed_precondition("gang " + leaving.name + " does not run"));
  }
  if (leaving.elastic != kNone) {
    stop_elastic(state, leaving.elastic);
  }
  leaving.state = GangState::draining;
  ++state.draining;
  Run& run = state.gangs.run_of(gang);
  leave_ranks(state, run);
  promote(state, run.leaves);
  // Others may count on what it leaves behind.
  state.growth_stir = true;
  if (state.others_give_way()) {
    state.stir = true;
  }
  return {};
}

Result<void> requeue_gang(State& state, Index gang, Time now) {
  Gang& back = state.gangs[gang];
  if (back.run == kNone) {
    return fail(failed_precondition("gang " + back.name + " waits already"));
  }
  if (back.state != GangState::nominated) {
    back.consumed += std::max(Duration::zero(), now - state.gangs.run_of(gang).started);
  }
  forget_run(state, gang);
  enqueue(state, gang);
  return {};
}

void change_priority(State& state, Index gang, std::int32_t priority) {
  const bool in_line = state.gangs[gang].lane != kNone;
  if (in_line) {
    leave_line(state, gang);
  }
  set_priority(state, gang, priority);
  if (in_line) {
    enqueue(state, gang);
  }
  if (!in_line && state.others_give_way()) {
    state.stir = true;
  }
  if (!in_line && state.gangs[gang].elastic != kNone) {
    touch_elastic(state, state.gangs[gang].elastic);
  }
}

void hold_gang(State& state, Index gang, bool held) {
  Gang& changed = state.gangs[gang];
  if (changed.held == held) {
    return;
  }
  changed.held = held;
  if (changed.run != kNone) {
    return;
  }
  if (held) {
    leave_line(state, gang);
  }
  // Either way its reason is reported now.
  enqueue(state, gang);
}

Result<void> change_pods(State& state, Index gang, const std::vector<PodSet>& pod_sets,
                         const Within& within) {
  const Gang& changed = state.gangs[gang];
  if (changed.elastic != kNone) {
    return fail(failed_precondition("gang " + changed.name + " has several sizes"));
  }
  if (changed.run != kNone && changed.state != GangState::nominated) {
    return fail(failed_precondition("gang " + changed.name + " holds places"));
  }
  const Index before = changed.shape;
  TRY_ASSIGN(const Index after, state.shapes.acquire(state.cluster, pod_sets, within));
  if (after == before) {
    state.shapes.release(state.cluster, before);
    return {};
  }
  if (changed.run != kNone) {
    forget_run(state, gang);
  } else {
    leave_line(state, gang);
  }
  state.gangs[gang].shape = after;
  state.shapes.release(state.cluster, before);
  enqueue(state, gang);
  return {};
}

void change_quota(State& state, Index gang, std::vector<Designation> quota) {
  const Index before = state.gangs[gang].claim;
  QuotaClaim asked = state.claims[before].asked;
  asked.designations = std::move(quota);
  const Index after = state.claims.acquire(state.forest, std::move(asked));
  if (after == before) {
    state.claims.release(before);
    return;
  }
  const bool in_line = state.gangs[gang].lane != kNone;
  if (in_line) {
    leave_line(state, gang);
  }
  state.gangs[gang].claim = after;
  if (state.gangs[gang].run != kNone) {
    Run& run = state.gangs.run_of(gang);
    const bool ranked = run.ranked;
    if (ranked) {
      leave_ranks(state, run);
    }
    state.forest.charge(run.leaves, run.charge, -1);
    const std::vector<Index> left = run.leaves;
    run.leaves = state.forest.resolve_running(state.claims[after].asked);
    state.forest.charge(run.leaves, run.charge, +1);
    if (ranked) {
      join_ranks(state, run);
    }
    promote(state, left);
    if (state.gangs[gang].elastic != kNone) {
      touch_elastic(state, state.gangs[gang].elastic);
    }
  }
  state.claims.release(before);
  if (in_line) {
    enqueue(state, gang);
  }
}

}  // namespace codeflare::sched
