// A hub and its workers where everything goes wrong. See sim_dispatch_world.h.

#include "tests/sim/sim_dispatch_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_dispatch", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_dispatch(run);
  });
}
