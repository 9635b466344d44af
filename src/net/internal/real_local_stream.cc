#include "net/internal/real_local_stream.h"

#include "base/env/file_system.h"
#include "net/internal/real_socket_stream.h"
#include "net/local_stream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace codeflare::net {

namespace {

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
  return std::make_unique<internal::SocketStream>(internal::Socket(loop, socket.release()));
}

}  // namespace codeflare::net
