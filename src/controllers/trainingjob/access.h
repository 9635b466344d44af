#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::trainingjob {

inline constexpr runtime::Right kRights[] = {
    {"list watch delete", "breezeml.ai", "trainingjobs",
     "TrainingJobs; those whose time to live is over"},
    {"patch", "breezeml.ai", "trainingjobs/status", "status and plan of TrainingJobs"},
    {"list watch create delete", "", "pods", "workers of TrainingJobs"},
    {"list watch create", "", "services", "headless Service of a TrainingJob"},
};

}  // namespace codeflare::controllers::trainingjob
