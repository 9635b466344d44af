#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::job {

inline constexpr runtime::Right kRights[] = {
    {"list watch delete", "batch", "jobs", "Jobs; those whose time to live is over"},
    {"patch", "batch", "jobs/status", "status of Jobs"},
    {"list watch create delete", "", "pods", "pods of Jobs"},
};

}  // namespace codeflare::controllers::job
