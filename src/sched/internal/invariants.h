#pragma once

#include "base/result.h"
#include "sched/internal/state.h"

namespace codeflare::sched {

// Every derived number against the records it comes from.
Result<void> check_invariants(const State& state);

}  // namespace codeflare::sched
