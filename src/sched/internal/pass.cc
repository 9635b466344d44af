#include "sched/internal/pass.h"

#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/order.h"
#include "sched/internal/preempt.h"
#include "sched/internal/quota_ranks.h"

#include <algorithm>
#include <utility>

namespace codeflare::sched {

void Pass::run() {
  settle_nominated();
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
    if (result_.more) break;
    if (std::exchange(state_.stir, false)) wake_all(state_);
    elect_before(std::nullopt);
    push_new_ready();
    if (heap_.empty()) break;
  }
  // Lanes that the admission limit left over stay ready for the next step.
  for (const Index lane : heap_) {
    state_.lanes[lane].in_heap = false;
    state_.ready.push_back(lane);
  }
  heap_.clear();
  state_.cluster.settle();
  report();
  if (state_.reservation) {
    result_.wake_at = state_.reservation->since + state_.options.holding_time;
  }
}

void Pass::wake() {
  if (state_.stir) {
    state_.stir = false;
    wake_all(state_);
  }
  wake_by_growth(state_);
  wake_by_relief(state_);
}

// A heap's top is the first in line.
bool Pass::later(Index a, Index b) const {
  return ahead(state_.gangs[state_.lanes.head(b)], state_.gangs[state_.lanes.head(a)], now_);
}

void Pass::push_new_ready() {
  for (const Index lane : state_.ready) {
    Lane& each = state_.lanes[lane];
    if (!each.alive || !each.ready || each.in_heap) continue;
    each.in_heap = true;
    heap_.push_back(lane);
    std::push_heap(heap_.begin(), heap_.end(), [&](Index a, Index b) { return later(a, b); });
  }
  state_.ready.clear();
}

std::optional<Index> Pass::pop() {
  if (heap_.empty()) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), [&](Index a, Index b) { return later(a, b); });
  const Index lane = heap_.back();
  heap_.pop_back();
  state_.lanes[lane].ready = state_.lanes[lane].in_heap = false;
  return lane;
}

void Pass::try_lane(Index lane) {
  const Index gang = state_.lanes.head(lane);
  const std::uint32_t nap = state_.lanes[lane].nap;
  Obstacle obstacle = try_start(lane);
  if (obstacle.why != Why::nothing && state_.options.preemption &&
      obstacle.why != Why::unknown_quota && nominate(state_, gang, now_, result_)) {
    obstacle.why = Why::nothing;
    fence_.reset();
    candidates_.reset();
    // Gangs that lost their nomination are back in line, perhaps as heads of lanes in the heap.
    std::make_heap(heap_.begin(), heap_.end(), [&](Index a, Index b) { return later(a, b); });
  }
  if (obstacle.why != Why::nothing) {
    block(lane, obstacle);
    take_over(lane);
    return;
  }
  // The lane is gone if this was its last gang.
  if (state_.lanes[lane].alive && state_.lanes[lane].nap == nap) make_ready(state_, lane);
}

Pass::Obstacle Pass::try_start(Index lane) {
  const LaneKey key = state_.lanes[lane].key;
  const QuotaPath& path = state_.claims.path(key.path);
  if (!path.problem.empty()) return {Why::unknown_quota};
  Shape& shape = state_.shapes[key.shape];
  if (auto shortage = state_.forest.shortage(path.leaves, shape.charge)) {
    return {Why::quota, shortage};
  }
  if (shape.asleep) return {shape.why};
  if (fenced(lane)) return try_behind_fence(lane, path, shape);
  const Placed placed = place(state_.cluster, shape, nullptr, state_.options.search_steps_max);
  if (!placed.ok()) {
    put_to_sleep(state_, key.shape, placed);
    return {shape.why};
  }
  start(state_.lanes.head(lane), placed.shares);
  return {};
}

Pass::Obstacle Pass::try_behind_fence(Index lane, const QuotaPath& path, const Shape& shape) {
  if (!fence_) fence_.emplace(state_, *state_.reservation, now_);
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
    return {Why::reserved};
  }
  const Index index = state_.lanes[lane].key.shape;
  put_to_sleep(state_, index, placed);
  return {state_.shapes[index].why};
}

void Pass::start(Index gang, const std::vector<Share>& shares) {
  dequeue(state_, gang);
  begin_run(state_, gang, shares, now_);
  state_.gangs[gang].state = GangState::running;
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
    if (!state_.gangs[head].fresh) changed_.push_back({state_.gangs.id(head), obstacle.why});
  }
  if (!obstacle.shortage) return;
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
      if (state_.cluster.free(node)[part.resource] < 0) clear = false;
    }
  });
  // Its own charge is among what is used: no more must fit.
  state_.forest.each_on_path(run.leaves, [&](Index index) {
    const QuotaState& node = state_.forest[index];
    if (!node.binding()) return;
    for (const Part& limit : node.limits) {
      if (amount_of(run.charge, limit.resource) > 0 &&
          amount_of(node.used, limit.resource) > limit.amount) {
        clear = false;
      }
    }
  });
  return clear;
}

void Pass::settle_nominated() {
  std::vector<Index> still;
  for (const Index gang : std::exchange(state_.nominated, {})) {
    if (place_is_clear(gang)) {
      state_.gangs[gang].state = GangState::running;
      set_started(state_, state_.gangs.run_of(gang), now_);
      result_.admitted.push_back(
          {state_.gangs.id(gang), placement_of(state_, state_.gangs.run_of(gang))});
    } else if (state_.draining > 0) {
      still.push_back(gang);
    } else {
      end_run(state_, gang);
      enqueue(state_, gang);
    }
  }
  state_.nominated = std::move(still);
}

void Pass::report() {
  for (const Refusal& refusal : changed_) {
    const Index gang = state_.gangs.checked(refusal.gang);
    if (gang != kNone && state_.gangs[gang].lane != kNone) result_.refused.push_back(refusal);
  }
  std::vector<Index> still;
  for (const Index gang : std::exchange(state_.fresh, {})) {
    Gang& told = state_.gangs[gang];
    if (!told.alive || !told.fresh) continue;
    const Lane* lane = told.lane == kNone ? nullptr : &state_.lanes[told.lane];
    if (lane != nullptr && lane->ready) {
      still.push_back(gang);
      continue;
    }
    told.fresh = false;
    if (told.state == GangState::nominated) {
      result_.refused.push_back({state_.gangs.id(gang), Why::awaiting_victims});
    } else if (told.state == GangState::waiting) {
      result_.refused.push_back({state_.gangs.id(gang), lane == nullptr ? Why::held : lane->why});
    }
  }
  state_.fresh = std::move(still);
}

}  // namespace codeflare::sched
