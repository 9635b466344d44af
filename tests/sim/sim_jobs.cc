// Jobs for Ray clusters whose network, proxy and users make trouble. See sim_jobs_world.h.

#include "tests/sim/sim_jobs_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_jobs", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_jobs(run);
  });
}
