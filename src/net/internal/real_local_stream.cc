#include "net/internal/real_local_stream.h"

#include "base/env/file_system.h"
#include "net/internal/real_stream.h"
#include "net/local_stream.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace codeflare::net {

namespace {

class RealLocalStream final : public LocalStream {
 public:
  explicit RealLocalStream(internal::Socket socket) : stream_(std::move(socket)) {}

  Task<Result<std::string>> read() override {
    std::array<char, 16384> buffer;
    CO_TRY_ASSIGN(const std::size_t size, co_await stream_.read(buffer));
    co_return std::string(buffer.data(), size);
  }

  Task<Result<void>> write(std::string bytes) override {
    co_return co_await stream_.write(std::string_view(bytes));
  }

  Task<Result<void>> finish() override {
    stream_.finish_writing();
    co_return Result<void>();
  }

 private:
  internal::Stream stream_;
};

Error not_there(const std::string& path, int number) {
  return unavailable(posix_error(number, "connect to " + path).message);
}

}  // namespace

Result<FileDescriptor> internal::connect_unix(const std::string& path) {
  // Socket addresses are short: the name is looked up from its directory.
  FileDescriptor directory(::open(parent_path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    return fail(not_there(path, errno));
  }
  const std::string name =
      "/proc/self/fd/" + std::to_string(directory.get()) + "/" + path.substr(path.rfind('/') + 1);
  sockaddr_un address{};
  if (name.size() >= sizeof address.sun_path) {
    return fail(invalid_argument("the name of socket " + path + " is too long"));
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(not_there(path, errno));
  }
  return socket;
}

Result<std::unique_ptr<LocalStream>> connect_local(Loop& loop, const std::string& path) {
  TRY_ASSIGN(FileDescriptor socket, internal::connect_unix(path));
  return std::make_unique<RealLocalStream>(internal::Socket(loop, socket.release()));
}

}  // namespace codeflare::net
