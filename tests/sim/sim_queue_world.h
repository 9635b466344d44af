#pragma once

#include "tests/sim/sim_main.h"
#include "tests/sim/sim_queue_bugs.h"

namespace codeflare::sim {

// One life of a small cluster in one simulated process: the embedded API server, the queue (alone,
// or in one program with all the rest), controllers of Jobs and RayClusters, nodes that come and
// go, and people who submit work and change their minds. Every way to the server but the people's
// is a bad network, programs are killed, and history is forgotten. A judge looks at every commit;
// afterwards all of it must come to rest, nothing may wait that could run, and when all is deleted
// nothing is left.
Outcome run_queue(const Run& run, QueueBug bug = QueueBug::none);

}  // namespace codeflare::sim
