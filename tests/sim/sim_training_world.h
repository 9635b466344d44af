#pragma once

#include "tests/sim/sim_main.h"

#include <cstdint>

namespace codeflare::sim {

enum class TrainingBug : std::uint8_t {
  none,
  group_replaced_without_proof,  // a group that is out of reach is replaced
  wrong_source,                  // the round names a member with fewer steps
  failures_not_heard,            // the controller overlooks failed members
  shrink_while_forming,          // a shrink does not wait until the group has begun
};

// One TrainingJob in one simulated process: the embedded API server, agents with their own code and
// scripted workers, a scripted controller that decides by elastic::decide_membership. Replies are
// lost, watches cut, pods cut off, workers killed and frozen, agents restarted, pods killed. No
// step is committed by two generations, none is lost while a member or a checkpoint has it, a
// shrink alone loses none, and afterwards the training completes and nothing is left to do.
Outcome run_training(const Run& run, TrainingBug bug = TrainingBug::none);

}  // namespace codeflare::sim
