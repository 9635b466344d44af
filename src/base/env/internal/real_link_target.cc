#include "base/env/internal/real_file_info.h"
#include "base/env/link_target.h"
#include "base/posix.h"

#include <cerrno>

namespace codeflare {

Result<FileInfo> target_info(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(const FileInfo info, files.info(path));
  if (info.type != FileInfo::Type::link) {
    return info;
  }
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return fail(posix_error(errno, "stat " + path));
  }
  return internal::file_info_of(status);
}

}  // namespace codeflare
