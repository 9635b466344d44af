#pragma once

#include "base/result.h"

#include <string_view>

namespace codeflare::sdk {

// The names that Ray accepts as submission ids.
Result<void> check_job_name(std::string_view name);

}  // namespace codeflare::sdk
