#pragma once

#include "runtime/access.h"

namespace codeflare::controllers::fakenode {

inline constexpr runtime::Right kRights[] = {
    {"list watch", "", "nodes", "fake nodes"},
    {"patch", "", "nodes nodes/status", "taints and conditions of fake nodes"},
    {"list watch delete", "", "pods", "pods of fake nodes"},
    {"patch", "", "pods/status", "what pods of fake nodes pretend"},
};

}  // namespace codeflare::controllers::fakenode
