#pragma once

#include "runtime/access.h"

namespace codeflare::controllers {

inline constexpr runtime::Right kQuotaRights[] = {
    {"list watch", "quota.codeflare.dev", "quotasubtrees", "quota trees"},
    {"patch", "quota.codeflare.dev", "quotasubtrees/status", "usage of quota trees"},
};

}  // namespace codeflare::controllers
