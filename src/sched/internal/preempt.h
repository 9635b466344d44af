#pragma once

#include "sched/internal/state.h"

namespace codeflare::sched {

// The gang cannot start on what is free. Finds the cheapest gangs whose end would let it, if it may
// evict them, reports them as evicted and gives it their place: it is nominated, and starts when
// they are gone. Gangs that are leaving anyway are counted on first. False: it stays in line, and
// nothing has changed.
bool nominate(State& state, Index gang, Time now, StepResult& result);

}  // namespace codeflare::sched
