// Runs whose controller, network and users make trouble. See sim_run_world.h.

#include "tests/sim/sim_run_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_run", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_runs(run);
  });
}
