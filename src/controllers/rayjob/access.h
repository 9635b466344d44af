#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::rayjob {

inline constexpr runtime::Right kRights[] = {
    {"list watch patch", "ray.io", "rayjobs", "RayJobs and their finalizer"},
    {"patch", "ray.io", "rayjobs/status", "status of RayJobs"},
    {"update", "ray.io", "rayjobs/finalizers", "owner of objects with blockOwnerDeletion"},
    {"list watch create delete", "ray.io", "rayclusters", "RayClusters of RayJobs"},
    {"list watch create delete", "batch", "jobs", "submitters of RayJobs"},
    {"list watch create patch", "", "services", "service of a RayJob"},
    {"get create", "", "services/proxy", "dashboard of Ray: submitting and following jobs"},
};

}  // namespace codeflare::controllers::rayjob
