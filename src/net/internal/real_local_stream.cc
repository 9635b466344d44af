#include "net/internal/real_local_stream.h"

#include "base/env/file_system.h"
#include "net/internal/real_socket_stream.h"
#include "net/local_listener.h"
#include "net/local_stream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace codeflare::net {

namespace {

Error not_there(const std::string& path, int number) {
  return unavailable(posix_error(number, "connect to " + path).message);
}

// Socket addresses are short: the name is looked up from its directory, which the address holds.
struct Address {
  FileDescriptor directory;
  sockaddr_un name{};

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Result<Address> address_of(const std::string& path) {
  Address address{.directory = FileDescriptor(
                      ::open(parent_path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))};
  if (!address.directory) {
    return fail(not_there(path, errno));
  }
  const std::string name = "/proc/self/fd/" + std::to_string(address.directory.get()) + "/" +
                           path.substr(path.rfind('/') + 1);
  if (name.size() >= sizeof address.name.sun_path) {
    return fail(invalid_argument("the name of socket " + path + " is too long"));
  }
  address.name.sun_family = AF_UNIX;
  std::memcpy(address.name.sun_path, name.c_str(), name.size() + 1);
  return address;
}

Result<FileDescriptor> unix_socket() {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  return socket;
}

class RealLocalListener final : public LocalListener {
 public:
  RealLocalListener(Loop& loop, FileDescriptor socket, std::string path)
      : loop_(loop), socket_(loop, socket.release()), path_(std::move(path)) {}
  ~RealLocalListener() override { ::unlink(path_.c_str()); }

  Task<Result<std::unique_ptr<LocalStream>>> accept() override {
    while (true) {
      const int accepted =
          ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (accepted >= 0) {
        co_return std::make_unique<internal::SocketStream>(internal::Socket(loop_, accepted));
      }
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        co_return fail(posix_error(errno, "accept on " + path_));
      }
      CO_TRY(co_await socket_.readable());
    }
  }

 private:
  Loop& loop_;
  internal::Socket socket_;
  std::string path_;
};

}  // namespace

Result<FileDescriptor> internal::connect_unix(const std::string& path) {
  TRY_ASSIGN(const Address address, address_of(path));
  TRY_ASSIGN(FileDescriptor socket, unix_socket());
  if (::connect(socket.get(), address.get(), sizeof address.name) != 0) {
    return fail(not_there(path, errno));
  }
  return socket;
}

Result<std::unique_ptr<LocalListener>> listen_local(Loop& loop, const std::string& path) {
  TRY_ASSIGN(const Address address, address_of(path));
  TRY_ASSIGN(FileDescriptor socket, unix_socket());
  ::unlink(path.c_str());
  if (::bind(socket.get(), address.get(), sizeof address.name) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    return fail(posix_error(errno, "listen on " + path));
  }
  return std::make_unique<RealLocalListener>(loop, std::move(socket), path);
}

Result<std::unique_ptr<LocalStream>> connect_local(Loop& loop, const std::string& path) {
  TRY_ASSIGN(FileDescriptor socket, internal::connect_unix(path));
  return std::make_unique<internal::SocketStream>(internal::Socket(loop, socket.release()));
}

}  // namespace codeflare::net
