#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::endpoints {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "", "pods services", "which pods are behind which Service"},
    {"list watch create update delete", "discovery.k8s.io", "endpointslices",
     "EndpointSlices of Services"},
};

}  // namespace codeflare::controllers::endpoints
