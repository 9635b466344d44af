#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "kube/client.h"

#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::sdk {

// The value of a PriorityClass, as the priority of an AppWrapper around its pods. Nothing when no
// class is named, or the caller may not read PriorityClasses; not_found names the field and the
// class.
Task<Result<std::optional<std::int64_t>>> priority_of_class(kube::Client& client, std::string name);

}  // namespace codeflare::sdk
