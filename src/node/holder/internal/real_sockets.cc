#include "node/holder/internal/real_sockets.h"

#include <arpa/inet.h>
#include <cerrno>
#include <string>
#include <sys/socket.h>

namespace codeflare::node::internal {

namespace {

std::string shown(const SocketAddress& at) {
  return at.address.to_string() + ":" + std::to_string(at.port);
}

Result<void> bind_to(const FileDescriptor& socket, const SocketAddress& at) {
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = to_sockaddr(at);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(posix_error(errno, "bind to " + shown(at)));
  }
  return {};
}

}  // namespace

sockaddr_in to_sockaddr(const SocketAddress& address) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(address.address.value);
  out.sin_port = htons(address.port);
  return out;
}

SocketAddress from_sockaddr(const sockaddr_in& address) {
  return {Ipv4{ntohl(address.sin_addr.s_addr)}, ntohs(address.sin_port)};
}

Result<FileDescriptor> tcp_socket() {
  FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  return socket;
}

Result<FileDescriptor> listen_tcp(const SocketAddress& at) {
  TRY_ASSIGN(FileDescriptor socket, tcp_socket());
  TRY(bind_to(socket, at));
  if (::listen(socket.get(), SOMAXCONN) != 0) {
    return fail(posix_error(errno, "listen on " + shown(at)));
  }
  return socket;
}

Result<FileDescriptor> bind_udp(const SocketAddress& at) {
  FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  TRY(bind_to(socket, at));
  return socket;
}

}  // namespace codeflare::node::internal
