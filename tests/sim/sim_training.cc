// A TrainingJob whose pods, workers and network fail. See sim_training_world.h.

#include "tests/sim/sim_training_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_training", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_training(run);
  });
}
