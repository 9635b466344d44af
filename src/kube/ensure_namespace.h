#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <string>

namespace codeflare::kube {

// Creates the namespace unless it exists.
Task<Result<void>> ensure_namespace(Client& client, std::string name);

}  // namespace codeflare::kube
