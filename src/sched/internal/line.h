#pragma once

#include "sched/internal/state.h"

#include <cstddef>

// The waiting gangs by lane, and the lanes to try.
namespace codeflare::sched {

// Puts a waiting gang into the lane of its likes; its reason is reported after the next step.
void enqueue(State& state, Index gang);
// Takes it out of line.
void dequeue(State& state, Index gang);
void make_ready(State& state, Index lane);
// After the quota forest changed: everybody into the lane where it now belongs.
void requeue_all(State& state);

// Puts the shape to sleep until nodes grow by what `placed` missed.
void put_to_sleep(State& state, Index shape, const Placed& placed);
bool waits_for_places(Reason why);
// Why a shape that cannot be placed cannot, as nodes are now. Looks at sums of node classes only.
Reason reason(const State& state, const Shape& shape);
// The same, kept in the shape until something changes.
Reason reason_now(State& state, Index shape);
// Classes, and nodes one by one, that it looks at.
std::size_t reason_effort(const State& state, const Shape& shape);

// Back to sleep without having been tried; how many places it misses is not known any more.
void lull_again(State& state, Index shape);

// Between steps nodes and quota nodes may have gained room: readies the lanes that it can help.
// The first returns the nodes that grew.
std::vector<Index> wake_by_growth(State& state);
void wake_by_relief(State& state);
// Nodes have gained room since then, in the middle of the step.
bool grew_since_wake(const State& state);
void wake_all(State& state);
// Lanes that only a reservation keeps out.
void wake_behind_reservation(State& state);

}  // namespace codeflare::sched
