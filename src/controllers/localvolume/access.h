#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::localvolume {

inline constexpr runtime::Right kRights[] = {
    {"list watch patch", "", "persistentvolumeclaims", "claims"},
    {"patch", "", "persistentvolumeclaims/status", "phase of claims"},
    {"list watch create delete", "", "persistentvolumes", "volumes for claims"},
    {"patch", "", "persistentvolumes/status", "phase of volumes"},
    {"list watch", "", "pods", "which node a claim is first used on"},
};

}  // namespace codeflare::controllers::localvolume
