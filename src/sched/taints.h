#pragma once

#include "sched/spec.h"

#include <vector>

namespace codeflare::sched {

// The taint that a cordoned node counts as having.
Taint cordon();
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

}  // namespace codeflare::sched
