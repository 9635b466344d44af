#include "base/posix.h"
#include "node/agent/log_reader.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace codeflare::node {

namespace {

class RealLogFiles final : public LogFiles {
 public:
  Result<std::string> read(const std::string& path, std::uint64_t offset,
                           std::size_t bytes_max) override {
    FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
      return fail(posix_error(errno, "open " + path));
    }
    std::string text(bytes_max, '\0');
    const ssize_t size = ::pread(file.get(), text.data(), text.size(), static_cast<off_t>(offset));
    if (size < 0) {
      return fail(posix_error(errno, "read " + path));
    }
    text.resize(static_cast<std::size_t>(size));
    return text;
  }
};

}  // namespace

std::unique_ptr<LogFiles> make_log_files() {
  return std::make_unique<RealLogFiles>();
}

}  // namespace codeflare::node
