#pragma once

#include "tests/sim/sim_main.h"

#include <cstdint>

namespace codeflare::sim {

// Bugs that the simulation must find when they are there.
enum class Planted : std::uint8_t {
  none,
  early_acknowledgement,  // the log says "durable" before it is
  swallowed_event,        // a watch leaves out an event now and then
};

// One life of a small cluster in one simulated process: the whole embedded API server on a disk
// that fills up, fails and survives crashes; hello_controller; clients that write what comes to
// their mind, one of them definitions, which change and go again; watchers that compare. Every way
// between them is a bad network. Afterwards all of it must come to rest in the state that the
// Greetings ask for.
Outcome run_apiserver(const Run& run, Planted planted = Planted::none);

}  // namespace codeflare::sim
