#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::platform_kinds {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "codeflare.dev", "applications datasets runsizeconfigurations",
     "Applications, DataSets and sizes"},
    {"patch", "codeflare.dev", "applications/status datasets/status",
     "condition Ready of Applications and DataSets"},
};

}  // namespace codeflare::controllers::platform_kinds
