#pragma once

#include "runtime/manager.h"

namespace codeflare::controllers::apps {

// Deployments, ReplicaSets and StatefulSets of apps/v1.
void add_apps_controllers(runtime::Manager& manager);

}  // namespace codeflare::controllers::apps
