#pragma once

#include "tests/sim/sim_main.h"

#include <cstdint>

namespace codeflare::sim {

// A mistake that the judge has to notice.
enum class DispatchBug : std::uint8_t {
  none,
  gone_too_early,    // a copy counts as gone when its deletion was asked for
  choice_forgotten,  // a hub that starts does not know where work was sent
  no_fence,          // workers do not stop copies of a silent hub, which starts them elsewhere
  copy_too_early,    // a worker starts a copy before the hub's plan names the cluster
  foreign_removed,   // a hub removes copies of another hub
  quota_ignored,     // a hub does not read its quota trees
};

// A hub and three workers in one simulated world: four API servers, a queue in each, Jobs on fake
// nodes. Every program has a bad network to its server, the hub also to each worker; programs are
// killed, roads are cut for minutes, and people submit work, change their minds, pause and drain
// clusters. Some workers wait when they are lost, others have fences; clocks run apart. A judge
// sees every commit of every server: no AppWrapper has a Job or a pod on two clusters at a time,
// none that ended runs again (but for one whose cluster was lost), nothing is dispatched over the
// hub's quota, and copies of other hubs stay.
// Afterwards all work comes to its end, and when it is deleted nothing is left anywhere.
Outcome run_dispatch(const Run& run, DispatchBug bug = DispatchBug::none);

}  // namespace codeflare::sim
