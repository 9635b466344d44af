#pragma once

#include "sched/spec.h"

#include <string>
#include <string_view>
#include <vector>

namespace codeflare::sched {

// The taint that a cordoned node counts as having.
Taint cordon();
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);
// "NoSchedule".
std::string_view effect_text(Effect effect);
// "dedicated=ml:NoSchedule".
std::string taint_text(const Taint& taint);

}  // namespace codeflare::sched
