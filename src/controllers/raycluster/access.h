#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::raycluster {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "ray.io", "rayclusters", "RayClusters"},
    {"update", "ray.io", "rayclusters/status", "status of RayClusters"},
    {"list watch create delete", "", "pods", "heads and workers of RayClusters"},
    {"list watch create", "", "services", "the service of a head"},
    {"create", "", "secrets", "tokens of RayClusters with authOptions"},
};

// To leave RayClusters to the KubeRay operator.
inline constexpr runtime::Right kLookForKubeRayRights[] = {
    {"list", "apps", "deployments", "search for the KubeRay operator"},
    {"list", "coordination.k8s.io", "leases", "search for the KubeRay operator"},
};

}  // namespace codeflare::controllers::raycluster
