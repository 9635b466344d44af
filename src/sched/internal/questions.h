#pragma once

#include "sched/explanation.h"
#include "sched/internal/state.h"
#include "sched/machines.h"

#include <cstddef>
#include <optional>
#include <vector>

// Answers that decide nothing: trials on the state are undone.
namespace codeflare::sched {

Reason why_of(const State& state, Index gang);
std::vector<Index> line_of(const State& state, Time now, std::size_t most);
std::optional<ReservationReport> reservation_report(const State& state);
Explanation explain(State& state, Index gang, Time now, Detail detail);
std::vector<Holder> holders(const State& state, Index gang, Time now, std::size_t most);
Advice advise(State& state, Index gang, Time now);
MachineAnswer machines(State& state, const MachineQuestion& question, Time now);
Estimate estimate(const State& state, Index gang, Time now);

}  // namespace codeflare::sched
