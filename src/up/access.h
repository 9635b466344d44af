#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <string_view>

namespace codeflare::up {

// The API user of the controllers of `codeflare up`.
inline constexpr std::string_view kControllerUser = "codeflare:controllers";

// Gives that user the ClusterRole `codeflare-up`: what the controllers do and nothing else.
Task<Result<void>> grant_controller_access(kube::Client& client);

// The roles for people (codeflare-viewer, codeflare-user ...), unless they are there.
Task<Result<void>> ensure_user_roles(kube::Client& client);

}  // namespace codeflare::up
