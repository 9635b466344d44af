#pragma once

#include "sched/internal/state.h"

#include <vector>

// Members and borrowers of a quota node. At every soft node the gangs below are members, whose sum
// stays within the limits, or borrowers. A gang's rank falls with the depth of the deepest node
// where it borrows; only weaker ranks are ever evicted, which is why evictions end
// (docs/decisions/0001-scheduling-core.md). Kept with preemption only.
namespace codeflare::sched {

// The charge that a run is ranked by: all of it; of an elastic gang its minimum, so that growth
// never makes a borrower of it.
const Request& rank_charge(const State& state, const Run& run);

void join_ranks(State& state, Run& run);
void leave_ranks(State& state, Run& run);
void set_started(State& state, Run& run, Time started);
void set_priority(State& state, Index gang, std::int32_t priority);
// Members have left these paths: borrowers, the strongest first, take their room.
void promote(State& state, const std::vector<Index>& leaves);
// All ranks anew, after the forest changed: the strongest first.
void rank_all(State& state);

// Where it would borrow if it joined now: the deepest depth, 0 for nowhere.
Index over_if_joined(const State& state, const std::vector<Index>& leaves, const Request& charge);

}  // namespace codeflare::sched
