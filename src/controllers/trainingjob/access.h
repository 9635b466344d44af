#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::trainingjob {

inline constexpr runtime::Right kRights[] = {
    {"get list watch patch delete", "breezeml.ai", "trainingjobs",
     "TrainingJobs; those whose time to live is over; finalizer of those on worker clusters; get "
     "is "
     "granted to agents"},
    {"patch", "breezeml.ai", "trainingjobs/status", "status and plan of TrainingJobs"},
    {"update", "breezeml.ai", "trainingjobs/finalizers",
     "owner of objects with blockOwnerDeletion"},
    {"list watch create delete", "", "pods", "workers of TrainingJobs"},
    {"list watch create", "", "services", "headless Service of a TrainingJob"},
    {"create", "", "secrets", "token of the checkpoints of a TrainingJob"},
    {"create", "", "serviceaccounts", "account of the agents of a TrainingJob"},
    {"create patch", "rbac.authorization.k8s.io", "roles",
     "rights of the agents of a TrainingJob: its own objects by name"},
    {"create", "rbac.authorization.k8s.io", "rolebindings", "gives agents their Role"},
    {"get list watch create patch", "coordination.k8s.io", "leases",
     "members and round of a TrainingJob; get, watch and patch are granted to agents"},
};

// Of who starts the checkpoint service itself (`codeflare up`).
inline constexpr runtime::Right kCheckpointServiceRights[] = {
    {"create", "", "namespaces", "namespace of the checkpoint service"},
    {"create", "", "secrets services", "key and Service of the checkpoint service"},
    {"get", "", "secrets", "key of the checkpoint service", "lattice-checkpoint-key"},
    {"create", "apps", "statefulsets", "the checkpoint service"},
};

}  // namespace codeflare::controllers::trainingjob
