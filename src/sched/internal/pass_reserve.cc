#include "sched/internal/pass.h"

#include <algorithm>

// How one step treats the reservation of the head of the line.
namespace codeflare::sched {

namespace {

bool may_reserve(Reason why) {
  return why == Reason::insufficient_quota || why == Reason::insufficient_resources ||
         why == Reason::fragmented || why == Reason::reserved;
}

}  // namespace

void Pass::check_reservation() {
  if (!state_.reservation) {
    return;
  }
  const Reservation& held = *state_.reservation;
  const Gang& holder = state_.gangs[held.gang];
  const bool waits = holder.alive && holder.lane == held.lane && held.lane != kNone;
  if (!waits) {
    drop_reservation(state_);
  } else if (now_ - held.since >= state_.options.holding_time) {
    ++state_.lanes[held.lane].turns;
    drop_reservation(state_);
  } else if (state_.reservation_stale && !reserve(state_, held.lane, now_)) {
    drop_reservation(state_);
  }
}

// Only those behind the holder stand before its fence, unless they are gone in time.
bool Pass::fenced(Index lane) {
  if (!state_.reservation || state_.reservation->lane == lane) {
    return false;
  }
  if (!reserves_before(state_, state_.reservation->lane, lane, now_)) {
    return false;
  }
  return !gone_in_time(*state_.reservation, state_.lanes[lane].key.limit, now_);
}

// A lane that just failed holds the reservation if nobody before it does.
void Pass::take_over(Index lane) {
  if (state_.options.holding_time <= Duration::zero()) {
    return;
  }
  if (!may_reserve(state_.lanes[lane].why)) {
    return;
  }
  if (state_.reservation) {
    if (state_.reservation->lane == lane) {
      state_.reservation->gang = state_.lanes.head(lane);
      return;
    }
    if (!reserves_before(state_, lane, state_.reservation->lane, now_)) {
      return;
    }
  }
  if (reserve(state_, lane, now_)) {
    fence_.reset();
  }
}

void Pass::elect_before(std::optional<Index> lane) {
  if (state_.options.holding_time <= Duration::zero() || state_.reservation) {
    return;
  }
  if (!candidates_) {
    candidates_.emplace();
    for (Index each = 0; each < state_.lanes.all().size(); ++each) {
      const Lane& candidate = state_.lanes[each];
      if (candidate.alive && !candidate.ready && !candidate.heap.empty() &&
          each != lane.value_or(kNone) && may_reserve(candidate.why)) {
        candidates_->push_back(each);
      }
    }
    std::sort(candidates_->begin(), candidates_->end(),
              [&](Index a, Index b) { return reserves_before(state_, b, a, now_); });
  }
  while (!candidates_->empty()) {
    const Index candidate = candidates_->back();
    const Lane& sleeping = state_.lanes[candidate];
    const bool sleeps = sleeping.alive && !sleeping.ready && !sleeping.heap.empty();
    if (sleeps && lane && !reserves_before(state_, candidate, *lane, now_)) {
      return;
    }
    candidates_->pop_back();
    if (sleeps && may_reserve(sleeping.why) && reserve(state_, candidate, now_)) {
      fence_.reset();
      return;
    }
  }
}

}  // namespace codeflare::sched
