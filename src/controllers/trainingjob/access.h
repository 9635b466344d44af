#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::trainingjob {

inline constexpr runtime::Right kRights[] = {
    {"get list watch delete", "breezeml.ai", "trainingjobs",
     "TrainingJobs; those whose time to live is over; get is granted to agents"},
    {"patch", "breezeml.ai", "trainingjobs/status", "status and plan of TrainingJobs"},
    {"list watch create delete", "", "pods", "workers of TrainingJobs"},
    {"list watch create", "", "services", "headless Service of a TrainingJob"},
    {"create", "", "serviceaccounts", "account of the agents of a TrainingJob"},
    {"create patch", "rbac.authorization.k8s.io", "roles",
     "rights of the agents of a TrainingJob: its own objects by name"},
    {"create", "rbac.authorization.k8s.io", "rolebindings", "gives agents their Role"},
    {"get list watch create patch", "coordination.k8s.io", "leases",
     "members and round of a TrainingJob; get, watch and patch are granted to agents"},
};

}  // namespace codeflare::controllers::trainingjob
