#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::rayjob {

inline constexpr runtime::Right kRights[] = {
    {"get list watch update", "ray.io", "rayjobs", "RayJobs and their finalizer"},
    {"update", "ray.io", "rayjobs/status", "status of RayJobs"},
    {"get list watch create delete", "ray.io", "rayclusters", "RayClusters of RayJobs"},
    {"list watch create delete", "batch", "jobs", "submitters of RayJobs"},
    {"patch", "", "services", "service of a head"},
    {"get create", "", "services/proxy", "dashboard of Ray: submitting and following jobs"},
};

}  // namespace codeflare::controllers::rayjob
