#pragma once

#include "model/run.h"
#include "platform/policy.h"
#include "platform/problem.h"

#include <vector>

namespace codeflare::platform {

// Compares the values of a Run with the limits of its policies, whatever their origin.
void check_limits(const Policies& policies, const std::vector<model::EffectiveValue>& effective,
                  Problems& problems);

}  // namespace codeflare::platform
