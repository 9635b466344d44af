#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::apps {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "apps", "deployments statefulsets", "Deployments and StatefulSets"},
    {"list watch create update patch delete", "apps", "replicasets", "sets of Deployments"},
    {"patch", "apps", "deployments/status replicasets/status statefulsets/status", "their status"},
    {"list watch create patch delete", "apps", "controllerrevisions", "revisions of StatefulSets"},
    {"list watch create patch delete", "", "pods", "pods of sets"},
    {"list watch create", "", "persistentvolumeclaims", "claims of StatefulSets"},
};

}  // namespace codeflare::controllers::apps
