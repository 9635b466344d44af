#include "base/posix.h"
#include "elastic/own_program.h"

#include <array>
#include <cerrno>
#include <climits>
#include <unistd.h>

namespace codeflare::elastic {

Result<std::string> own_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (size < 0) {
    return fail(posix_error(errno, "read /proc/self/exe"));
  }
  return std::string(path.data(), static_cast<std::size_t>(size));
}

}  // namespace codeflare::elastic
