#include "sched/internal/pass.h"

#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/order.h"
#include "sched/internal/preempt.h"
#include "sched/internal/quota_ranks.h"

#include <algorithm>
#include <utility>

namespace codeflare::sched {

void Pass::run() {
  GrowthPass growth(state_, now_, result_);
  settle_nominated();
  growth.settle();
  wake();
  check_reservation();
  push_new_ready();
  for (;;) {
    while (const auto lane = pop()) {
      if (result_.admitted.size() >= admissions_max_) {
        make_ready(state_, *lane);
        result_.more = true;
        break;
      }
      elect_before(lane);
      try_lane(*lane);
      push_new_ready();
    }
    if (result_.more) {
      break;
    }
    if (std::exchange(state_.stir, false)) {
      wake_all(state_);
    }
    elect_before(std::nullopt);
    push_new_ready();
    if (heap_.empty()) {
      break;
    }
  }
  // Lanes that the admission limit left over stay ready for the next step.
  for (const Entry& each : heap_) {
    state_.lanes[each.lane].in_heap = false;
    state_.ready.push_back(each.lane);
  }
  heap_.clear();
  // Growth in this step says nothing about the next.
  for (const Index shape : std::exchange(state_.hoping, {})) {
    state_.shapes[shape].hopes = false;
  }
  if (state_.reservation) {
    result_.wake_at = state_.reservation->since + state_.options.holding_time;
  }
  if (!result_.more) {
    growth.run();
    // Room that came free in the middle of the step: somebody may need it.
    if (state_.elastics.active() > 0 && grew_since_wake(state_)) {
      state_.stir = state_.growth_stir = true;
    }
    // A gang for which only growth that was on its way had to go can start at once.
    const bool starts = state_.elastics.active() > 0 && !state_.paused &&
                        std::any_of(state_.nominated.begin(), state_.nominated.end(),
                                    [&](Index gang) { return place_is_clear(gang); });
    result_.more = state_.stir || starts;
  }
  state_.cluster.settle();
  report();
}

void Pass::wake() {
  if (state_.stir) {
    state_.stir = false;
    wake_all(state_);
  }
  grown_ = wake_by_growth(state_);
  wake_by_relief(state_);
}

Pass::Entry Pass::entry(Index lane) const {
  const Lane& each = state_.lanes[lane];
  const Shape& shape = state_.shapes[each.key.shape];
  const bool hopes = shape.hopes && shape.short_group != kNone;
  return {each.head_priority + each.key.slope * seconds(now_), each.head_submitted, lane,
          hopes ? shape.groups[shape.short_group].kind : kNone};
}

// A heap's top is the first in line: the order of `ahead`.
bool Pass::later(const Entry& a, const Entry& b) const {
  if (a.priority != b.priority) {
    return a.priority < b.priority;
  }
  if (a.submitted != b.submitted) {
    return a.submitted > b.submitted;
  }
  return state_.gangs[state_.lanes.head(a.lane)].name >
         state_.gangs[state_.lanes.head(b.lane)].name;
}

void Pass::make_heap() {
  std::make_heap(heap_.begin(), heap_.end(),
                 [&](const Entry& a, const Entry& b) { return later(a, b); });
}

void Pass::push_new_ready() {
  for (const Index lane : state_.ready) {
    Lane& each = state_.lanes[lane];
    if (!each.alive || !each.ready || each.in_heap) {
      continue;
    }
    each.in_heap = true;
    heap_.push_back(entry(lane));
    std::push_heap(heap_.begin(), heap_.end(),
                   [&](const Entry& a, const Entry& b) { return later(a, b); });
  }
  state_.ready.clear();
}

std::optional<Index> Pass::pop() {
  if (heap_.empty()) {
    return std::nullopt;
  }
  std::pop_heap(heap_.begin(), heap_.end(),
                [&](const Entry& a, const Entry& b) { return later(a, b); });
  const Index lane = heap_.back().lane;
  heap_.pop_back();
  state_.lanes[lane].ready = state_.lanes[lane].in_heap = false;
  return lane;
}

void Pass::find_kinds_with_hope() {
  hope_.clear();
  for (const Index node : grown_) {
    const Amount* free = state_.cluster.free(node);
    const Index home = state_.cluster.nodes()[node].node_class;
    for (const KindNeed& need : state_.cluster.node_class(home).kinds) {
      if (!need.may_fit(free)) {
        continue;
      }
      if (need.kind >= hope_.size()) {
        hope_.resize(need.kind + 1);
      }
      hope_[need.kind] = true;
    }
  }
}

void Pass::drop_hopeless() {
  // With many grown nodes a look at all of them costs more than trials.
  constexpr std::size_t kGrownMax = 64;
  constexpr std::size_t kWorthIt = 4;
  // Places of elastic gangs there may come free as well.
  if (grown_.empty() || grown_.size() > kGrownMax || heap_.size() < kWorthIt ||
      state_.elastics.active() > 0) {
    return;
  }
  find_kinds_with_hope();
  const std::size_t dropped = std::erase_if(heap_, [&](const Entry& each) {
    const Index kind = each.hopes_for;
    if (kind == kNone || (kind < hope_.size() && hope_[kind])) {
      return false;
    }
    const Index shape = state_.lanes[each.lane].key.shape;
    if (!state_.shapes[shape].asleep) {
      lull_again(state_, shape);
    }
    state_.lanes[each.lane].ready = state_.lanes[each.lane].in_heap = false;
    block(each.lane, {state_.shapes[shape].why});
    return true;
  });
  if (dropped == 0) {
    return;
  }
  make_heap();
  // They sleep now, and may be the next to reserve.
  candidates_.reset();
}

void Pass::try_lane(Index lane) {
  const Index gang = state_.lanes.head(lane);
  const std::uint32_t nap = state_.lanes[lane].nap;
  Obstacle obstacle = try_start(lane);
  if (obstacle.why != Reason::none && state_.others_give_way() &&
      obstacle.why != Reason::unknown_quota && obstacle.why != Reason::paused &&
      nominate(state_, gang, now_, result_)) {
    obstacle.why = Reason::none;
    if (!state_.gangs[gang].fresh) {
      changed_.push_back(state_.gangs.id(gang));
    }
    fence_.reset();
    candidates_.reset();
    // Gangs that lost their nomination are back in line, perhaps as heads of lanes in the heap.
    for (Entry& each : heap_) {
      each = entry(each.lane);
    }
    make_heap();
  }
  if (obstacle.why != Reason::none) {
    block(lane, obstacle);
    take_over(lane);
    return;
  }
  drop_hopeless();
  // The lane is gone if this was its last gang.
  if (state_.lanes[lane].alive && state_.lanes[lane].nap == nap) {
    make_ready(state_, lane);
  }
}

Pass::Obstacle Pass::try_start(Index lane) {
  const LaneKey key = state_.lanes[lane].key;
  const QuotaPath& path = state_.claims.path(key.path);
  if (state_.paused && !path.loose) {
    return {Reason::paused};
  }
  if (!path.problem.empty()) {
    return {Reason::unknown_quota};
  }
  Shape& shape = state_.shapes[key.shape];
  if (auto shortage = state_.forest.shortage(path.leaves, shape.charge)) {
    return {Reason::insufficient_quota, shortage};
  }
  if (shape.asleep) {
    return {shape.why};
  }
  if (fenced(lane)) {
    return try_behind_fence(lane, path, shape);
  }
  const Placed placed = place(state_.cluster, shape, nullptr, state_.options.search_steps_max);
  if (!placed.ok()) {
    put_to_sleep(state_, key.shape, placed);
    return {shape.why};
  }
  start(state_.lanes.head(lane), placed.shares);
  return {};
}

Pass::Obstacle Pass::try_behind_fence(Index lane, const QuotaPath& path, const Shape& shape) {
  if (!fence_) {
    fence_.emplace(state_, *state_.reservation, now_);
  }
  const std::uint32_t steps = state_.options.search_steps_max;
  if (fence_->lets_pass(state_, path.leaves, shape.charge)) {
    const Placed placed = place(state_.cluster, shape, &fence_->nodes(), steps);
    if (placed.ok()) {
      fence_->charge(state_, path.leaves, shape.charge);
      start(state_.lanes.head(lane), placed.shares);
      return {};
    }
  }
  // Is it only the reservation? Then its end wakes the lane, else more room does.
  const Placed placed = place(state_.cluster, shape, nullptr, steps);
  if (placed.ok()) {
    unplace(state_.cluster, shape, nullptr, placed.shares);
    return {Reason::reserved};
  }
  const Index index = state_.lanes[lane].key.shape;
  put_to_sleep(state_, index, placed);
  return {state_.shapes[index].why};
}

void Pass::start(Index gang, const std::vector<Share>& shares) {
  dequeue(state_, gang);
  begin_run(state_, gang, shares, now_);
  state_.gangs[gang].state = GangState::running;
  if (state_.gangs[gang].elastic != kNone) {
    begin_elastic(state_, state_.gangs[gang].elastic, now_);
  }
  if (state_.reservation && state_.reservation->gang == gang) {
    drop_reservation(state_);
    fence_.reset();
    candidates_.reset();
  }
  result_.admitted.push_back(
      {state_.gangs.id(gang), placement_of(state_, state_.gangs.run_of(gang))});
}

void Pass::block(Index lane, const Obstacle& obstacle) {
  Lane& blocked = state_.lanes[lane];
  if (blocked.why != obstacle.why) {
    blocked.why = obstacle.why;
    const Index head = blocked.heap.front();
    if (!state_.gangs[head].fresh) {
      changed_.push_back(state_.gangs.id(head));
    }
  }
  if (!obstacle.shortage) {
    return;
  }
  const QuotaShortage& shortage = *obstacle.shortage;
  auto& waiters = state_.forest[shortage.node].waiters;
  if (waiters.size() > 2 * state_.lanes.all().size()) {
    std::erase_if(waiters, [&](const QuotaState::Waiter& waiter) {
      return state_.lanes[waiter.lane].nap != waiter.nap;
    });
  }
  waiters.push_back({lane, blocked.nap, shortage.resource, shortage.requested});
}

bool Pass::place_is_clear(Index gang) const {
  const Run& run = state_.gangs.run_of(gang);
  bool clear = true;
  each_holding(state_, run, [&](Index node, const Request& request, std::int64_t) {
    for (const Part& part : request) {
      if (state_.cluster.free(node)[part.resource] < 0) {
        clear = false;
      }
    }
  });
  return clear && quota_beyond(state_, run).empty();
}

void Pass::settle_nominated() {
  std::vector<Index> still;
  for (const Index gang : std::exchange(state_.nominated, {})) {
    const bool paused = state_.paused && !state_.claims.path_of(state_.gangs[gang].claim).loose;
    if (!paused && place_is_clear(gang)) {
      state_.gangs[gang].state = GangState::running;
      set_started(state_, state_.gangs.run_of(gang), now_);
      if (state_.gangs[gang].elastic != kNone) {
        begin_elastic(state_, state_.gangs[gang].elastic, now_);
      }
      result_.admitted.push_back(
          {state_.gangs.id(gang), placement_of(state_, state_.gangs.run_of(gang))});
    } else if (state_.draining > 0 || state_.elastics.leaving > 0 || paused) {
      still.push_back(gang);
    } else {
      end_run(state_, gang);
      enqueue(state_, gang);
    }
  }
  state_.nominated = std::move(still);
}

void Pass::report_changed() {
  for (const GangId id : std::exchange(changed_, {})) {
    const Index gang = state_.gangs.checked(id);
    if (gang == kNone) {
      continue;
    }
    Gang& told = state_.gangs[gang];
    const bool nominated = told.state == GangState::nominated;
    if (!nominated && told.lane == kNone) {
      continue;
    }
    const Reason why = nominated ? Reason::preempting : state_.lanes[told.lane].why;
    if (told.told == why) {
      continue;
    }
    told.told = why;
    result_.refused.push_back({id, why});
  }
}

void Pass::report() {
  // The trial may have relied on what was found before this step.
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    const Index gang = state_.gangs.checked(changed_[i]);
    if (gang != kNone && state_.gangs[gang].lane != kNone) {
      refresh(state_.gangs[gang].lane);
    }
  }
  // In the middle of a long step new gangs are not told yet; its last part tells them.
  if (result_.more) {
    report_changed();
    return;
  }
  std::vector<Index> still;
  for (const Index gang : std::exchange(state_.fresh, {})) {
    Gang& told = state_.gangs[gang];
    if (!told.alive || !told.fresh) {
      continue;
    }
    const Lane* lane = told.lane == kNone ? nullptr : &state_.lanes[told.lane];
    if (lane != nullptr && lane->ready) {
      still.push_back(gang);
      continue;
    }
    if (lane != nullptr) {
      refresh(told.lane);
    }
    told.fresh = false;
    if (told.state == GangState::nominated) {
      told.told = Reason::preempting;
    } else if (told.state == GangState::waiting) {
      told.told = lane == nullptr ? Reason::held : lane->why;
    } else {
      continue;
    }
    result_.refused.push_back({state_.gangs.id(gang), told.told});
  }
  state_.fresh = std::move(still);
  report_changed();
}

}  // namespace codeflare::sched
