#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <string>

namespace codeflare {

// As files.info(), but of what a symbolic link points to: not_found when that is missing,
// failed_precondition when links lead in a circle. Only the real file system has links.
Result<FileInfo> target_info(FileSystem& files, const std::string& path);

}  // namespace codeflare
