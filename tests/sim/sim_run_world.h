#pragma once

#include "tests/sim/sim_main.h"

#include <cstdint>

namespace codeflare::sim {

enum class RunBug : std::uint8_t {
  none,
  second_wrapper,  // a Run gets a second AppWrapper
  goes_back,       // a Run that has ended runs again
  left_behind,     // an AppWrapper outlives its Run
};

// Runs in one simulated process: the embedded API server, the controllers of Runs with their own
// code, users who create, hold, cancel, delete and create anew, and a scripted queue. The
// controller is killed and cut off, replies are lost, writes conflict, history is forgotten. A Run
// has at most one AppWrapper, ends once, and takes everything with it; when the faults are healed,
// all Runs end and nothing is left to do.
Outcome run_runs(const Run& run, RunBug bug = RunBug::none);

}  // namespace codeflare::sim
