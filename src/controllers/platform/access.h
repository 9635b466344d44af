#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::platform_kinds {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "codeflare.dev", "applications datasets runsizeconfigurations",
     "Applications, DataSets and sizes"},
    {"patch", "codeflare.dev", "applications/status datasets/status",
     "condition Ready of Applications and DataSets"},
    {"get", "", "secrets", "whether Secrets that Applications and DataSets name exist"},
    {"list watch", "codeflare.dev", "images", "Images to fetch"},
    {"patch", "codeflare.dev", "images/status", "on which nodes an Image is ready"},
    {"list watch", "", "nodes", "nodes that fetch Images"},
    {"list watch create delete", "", "pods", "pods that fetch Images"},
};

}  // namespace codeflare::controllers::platform_kinds
