#include "base/posix.h"
#include "net/free_port.h"
#include "net/internal/real_socket.h"

#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>

namespace codeflare::net {

Result<std::uint16_t> free_port(const std::string& address) {
  TRY_ASSIGN(internal::Endpoint endpoint, internal::parse_endpoint(address, 0));
  FileDescriptor socket(::socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  endpoint.size = sizeof endpoint.storage;
  auto* storage = reinterpret_cast<sockaddr*>(&endpoint.storage);
  const socklen_t size =
      endpoint.storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::bind(socket.get(), storage, size) != 0 ||
      ::getsockname(socket.get(), storage, &endpoint.size) != 0) {
    return fail(posix_error(errno, "take a port of " + address));
  }
  return endpoint.port();
}

}  // namespace codeflare::net
