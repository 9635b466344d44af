#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::raycluster {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "ray.io", "rayclusters", "RayClusters"},
    {"update", "ray.io", "rayclusters/status", "status of RayClusters"},
    {"update", "ray.io", "rayclusters/finalizers", "owner of objects with blockOwnerDeletion"},
    {"list watch create delete", "", "pods", "heads and workers of RayClusters"},
    {"list watch create", "", "services", "the service of a head"},
    {"create", "", "secrets", "tokens of RayClusters with authOptions"},
    {"create", "", "serviceaccounts", "autoscalers of RayClusters"},
    {"create", "rbac.authorization.k8s.io", "roles", "autoscalers of RayClusters"},
    {"create", "rbac.authorization.k8s.io", "rolebindings", "autoscalers of RayClusters"},
    // Only rights that the controller has can be given to an autoscaler.
    {"get patch", "", "pods", "given to autoscalers of RayClusters"},
    {"patch", "", "pods/resize", "given to autoscalers of RayClusters"},
    {"get patch", "ray.io", "rayclusters", "given to autoscalers of RayClusters"},
};

// To leave RayClusters to the KubeRay operator.
inline constexpr runtime::Right kLookForKubeRayRights[] = {
    {"list watch", "apps", "deployments", "search for the KubeRay operator"},
    {"list watch", "coordination.k8s.io", "leases", "search for the KubeRay operator"},
};

}  // namespace codeflare::controllers::raycluster
