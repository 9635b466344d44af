#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <string>

namespace codeflare::apiserver {

// Adds the remedy against `data_loss` in a data directory to the error: people decide what to give
// up. Other errors stay as they are. Blocks.
Error with_remedy(Error error, FileSystem& files, const std::string& directory);

}  // namespace codeflare::apiserver
