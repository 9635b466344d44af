#pragma once

#include "controllers/appwrapper/queue_driver.h"
#include "controllers/scale/machine_planner.h"
#include "controllers/scale/provider.h"
#include "controllers/scale/request_decision.h"
#include "queue/settings.h"
#include "runtime/manager.h"

namespace codeflare::controllers::scale {

struct ScaleOptions {
  PlannerOptions planner{};
  Patience patience{};
};

// For `codeflare explain`.
void add_limits(const PlannerOptions& options, queue::Settings& settings);

// Machines on demand. After add_queue_controllers, whose driver it takes; where the queue decides.
void add_scale_controllers(runtime::Manager& manager, QueueDriver& driver, Providers providers,
                           ScaleOptions options);

}  // namespace codeflare::controllers::scale
