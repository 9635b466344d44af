#pragma once

#include "base/env/file_system.h"

#include <sys/stat.h>

namespace codeflare::internal {

inline FileInfo file_info_of(const struct stat& status) {
  FileInfo info;
  info.type = S_ISREG(status.st_mode)   ? FileInfo::Type::file
              : S_ISDIR(status.st_mode) ? FileInfo::Type::directory
              : S_ISLNK(status.st_mode) ? FileInfo::Type::link
                                        : FileInfo::Type::other;
  info.size = static_cast<std::uint64_t>(status.st_size);
  info.mode = status.st_mode & 07777;
  info.modified = WallTime(std::chrono::seconds(status.st_mtim.tv_sec) +
                           std::chrono::nanoseconds(status.st_mtim.tv_nsec));
  return info;
}

}  // namespace codeflare::internal
