#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <string>

namespace codeflare::kube::internal {

// The objects of a list answer, straight from its text. Gives other work a turn now and then.
Task<Result<ObjectList>> parse_list(std::string body);

}  // namespace codeflare::kube::internal
