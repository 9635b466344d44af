#pragma once

#include "base/env/file_handle.h"

#include <memory>
#include <string>

namespace codeflare::internal {

Result<std::unique_ptr<FileHandle>> open_real_file(const std::string& path, int flags,
                                                   std::uint32_t mode);
Result<void> sync_real_directory(const std::string& path);
Result<DiskSpace> real_disk_space(const std::string& path);

}  // namespace codeflare::internal
