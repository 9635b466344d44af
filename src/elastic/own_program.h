#pragma once

#include "base/result.h"

#include <string>

namespace codeflare::elastic {

// Path of the running program's file.
Result<std::string> own_program();

}  // namespace codeflare::elastic
