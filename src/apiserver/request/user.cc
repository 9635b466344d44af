#include "apiserver/request/user.h"

#include <algorithm>

namespace codeflare::apiserver {

bool User::is_admin() const {
  return std::ranges::find(groups, kAdminGroup) != groups.end();
}

}  // namespace codeflare::apiserver
