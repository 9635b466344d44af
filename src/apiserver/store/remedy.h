#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <string>

namespace codeflare::apiserver {

// What helps against `data_loss` in a data directory, said behind the error: what is given up is
// for people to decide. Other errors stay as they are. Blocks.
Error with_remedy(Error error, FileSystem& files, const std::string& directory);

}  // namespace codeflare::apiserver
