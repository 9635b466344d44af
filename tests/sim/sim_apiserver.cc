// The embedded API server, hello_controller, random clients and watchers, with lost replies, cut
// streams, injected errors, forgotten history, bad disks and crashes. See sim_apiserver_world.h.

#include "tests/sim/sim_apiserver_world.h"

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_apiserver", [](const codeflare::sim::Run& run) {
    return codeflare::sim::run_apiserver(run);
  });
}
