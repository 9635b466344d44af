#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/line.h"
#include "sched/internal/quota_ranks.h"
#include "sched/internal/reserve.h"
#include "sched/sizes.h"

#include <utility>

// Changes of elastic gangs from outside.
namespace codeflare::sched {

namespace {

Error fixed(const State& state, Index gang) {
  return failed_precondition("gang " + state.gangs[gang].name + " has no pod set of several sizes");
}

// The gang waits, is ranked and is placed by its minimum: with another one it is of another shape.
void change_shape(State& state, Index gang, Index shape) {
  const bool in_line = state.gangs[gang].lane != kNone;
  if (in_line) {
    if (state.reservation && state.reservation->gang == gang) {
      drop_reservation(state);
    }
    dequeue(state, gang);
  }
  state.shapes.release(state.cluster, state.gangs[gang].shape);
  state.gangs[gang].shape = shape;
  if (in_line) {
    enqueue(state, gang);
  }
}

}  // namespace

Result<void> change_bounds(State& state, Index gang, Sizes sizes) {
  const Index index = state.gangs[gang].elastic;
  if (index == kNone) {
    return fail(fixed(state, gang));
  }
  if (auto sound = check_sizes(sizes); !sound) {
    return fail(std::move(sound).error().with_context("gang " + state.gangs[gang].name));
  }
  if (state.elastics[index].sizes == sizes) {
    return {};
  }
  // One that has its place for the old minimum looks for one for the new.
  if (state.gangs[gang].state == GangState::nominated) {
    TRY(requeue_gang(state, gang, Time{}));
  }
  const std::uint32_t pod_set = state.elastics[index].pod_set;
  TRY_ASSIGN(const Index shape,
             state.shapes.acquire_with(state.cluster, state.gangs[gang].shape, pod_set, sizes.min));
  state.elastics[index].sizes = std::move(sizes);
  const bool runs = state.gangs[gang].run != kNone;
  const bool ranked = runs && state.gangs.run_of(gang).ranked;
  if (ranked) {
    leave_ranks(state, state.gangs.run_of(gang));
  }
  change_shape(state, gang, shape);
  if (!runs) {
    return {};
  }
  rebase(state, index);
  if (const Elastic& changed = state.elastics[index]; changed.ever_resized) {
    state.elastics.cooling.insert({changed.resized + cooldown_of(state, changed), index});
  }
  if (ranked) {
    Run& run = state.gangs.run_of(gang);
    join_ranks(state, run);
    promote(state, run.leaves);
  }
  touch_elastic(state, index);
  return {};
}

Result<void> change_progress(State& state, Index gang, Progress progress) {
  const Index index = state.gangs[gang].elastic;
  if (index == kNone) {
    return fail(fixed(state, gang));
  }
  state.elastics[index].progress = std::move(progress);
  if (state.elastics[index].active) {
    state.elastics.touch(index);
    state.growth_stir = true;
  }
  return {};
}

void touch_elastic(State& state, Index index) {
  if (!state.elastics[index].active) {
    return;
  }
  state.elastics.touch(index);
  state.growth_stir = true;
  // Others may take now what was safe before.
  state.stir = true;
}

void touch_elastics(State& state) {
  for (Index index = 0; index < state.elastics.all().size(); ++index) {
    if (state.elastics[index].active) {
      state.elastics.touch(index);
    }
  }
  state.growth_stir = true;
}

}  // namespace codeflare::sched
