#pragma once

#include "model/app_wrapper.h"
#include "queue/demand.h"
#include "queue/kinds/problems.h"

namespace codeflare::queue {

// The demand as far as it can be read; it means nothing once there are problems.
Demand read_demand(const model::AppWrapper& wrapper, Problems& problems);

}  // namespace codeflare::queue
