// The queue in a cluster where everything goes wrong. See sim_queue_world.h.

#include "tests/sim/sim_queue_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_queue", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_queue(run);
  });
}
