#include "node/holder/internal/real_http_proxy.h"
#include "node/holder/internal/real_sockets.h"
#include "node/wire/holder_call.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace codeflare::node::internal {

namespace {

constexpr int kPatienceMs = 30'000;

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<AddressList> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(unavailable("look up " + host + ": " + ::gai_strerror(error)));
  }
  return AddressList(found, &::freeaddrinfo);
}

bool same_address(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) {
    return false;
  }
  if (a.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return a.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

bool is_this_machine(const sockaddr& address) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) {
    return true;  // not known: better not
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, &::freeifaddrs);
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && same_address(*one->ifa_addr, address)) {
      return true;
    }
  }
  return false;
}

bool is_special(Ipv4 address) {
  const auto in = [&](std::uint32_t base, int prefix) {
    return Ipv4Block{{base}, prefix}.contains(address);
  };
  return in(0x00000000u, 8) || in(0x7f000000u, 8) || in(0xa9fe0000u, 16) || in(0xe0000000u, 3);
}

// Addresses that pods must not reach through us: the machine itself by any of its names, and
// services for the machine alone.
bool is_forbidden(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return is_special(from_sockaddr(reinterpret_cast<const sockaddr_in&>(address)).address) ||
           is_this_machine(address);
  }
  if (address.sa_family != AF_INET6) {
    return true;
  }
  const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&six) || IN6_IS_ADDR_UNSPECIFIED(&six) ||
         IN6_IS_ADDR_LINKLOCAL(&six) || IN6_IS_ADDR_MULTICAST(&six) || IN6_IS_ADDR_V4MAPPED(&six) ||
         IN6_IS_ADDR_V4COMPAT(&six) || is_this_machine(address);
}

// The socket does not block while it is connected, and does afterwards.
Result<void> connect_within(const FileDescriptor& socket, const sockaddr* address, socklen_t size) {
  const int flags = ::fcntl(socket.get(), F_GETFL);
  ::fcntl(socket.get(), F_SETFL, flags | O_NONBLOCK);
  int error = ::connect(socket.get(), address, size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd wait{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    socklen_t length = sizeof error;
    if (::poll(&wait, 1, kPatienceMs) != 1) {
      error = ETIMEDOUT;
    } else {
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length);
    }
  }
  ::fcntl(socket.get(), F_SETFL, flags & ~O_NONBLOCK);
  if (error != 0) {
    return fail(unavailable(posix_error(error, "connect").message));
  }
  return {};
}

// By a socket that the holder is asked for.
Result<FileDescriptor> connect_inside(const std::string& socket, const HolderRequest& ask,
                                      const Destination& to) {
  const auto address = Ipv4::parse(to.host);
  if (!address) {
    return fail(internal_error("the holder gave no address"));
  }
  TRY_ASSIGN(HolderReply reply, call_holder(socket, ask));
  if (reply.descriptors.empty()) {
    return fail(internal_error("the holder gave no socket"));
  }
  FileDescriptor made = std::move(reply.descriptors.front());
  const sockaddr_in at = to_sockaddr({*address, to.port});
  TRY(connect_within(made, reinterpret_cast<const sockaddr*>(&at), sizeof at));
  return made;
}

}  // namespace

Result<FileDescriptor> dial_outside(const std::string& host, std::uint16_t port) {
  TRY_ASSIGN(const AddressList found, look_up(host, port));
  Error last = unavailable("no address of " + host + " can be reached");
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next) {
    if (is_forbidden(*one->ai_addr)) {
      last = permission_denied(host + " is this machine or concerns it alone");
      continue;
    }
    FileDescriptor socket(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket) {
      return fail(posix_error(errno, "make a socket"));
    }
    const Result<void> connected = connect_within(socket, one->ai_addr, one->ai_addrlen);
    if (connected) {
      return socket;
    }
    last = connected.error().with_context(host);
  }
  return fail(std::move(last));
}

Result<FileDescriptor> dial_inside(const std::string& socket, const std::string& host,
                                   std::uint16_t port) {
  HolderRequest resolve{.verb = "resolve", .names = {host}};
  TRY_ASSIGN(const HolderReply found, call_holder(socket, resolve));
  return connect_inside(socket, {.verb = "socket"}, {found.answer.address, port});
}

Result<FileDescriptor> dial_for_pod(const std::string& socket, const Destination& wanted) {
  const PodRecord pod{.address = wanted.client.to_string()};
  HolderRequest resolve{.verb = "resolve", .pod = pod, .names = {wanted.host}};
  const Result<HolderReply> found = call_holder(socket, resolve);
  if (!found && found.error().code == ErrorCode::unavailable) {
    return fail(found.error());  // not known: what is meant may be inside
  }
  if (found && found->answer.inside) {
    return connect_inside(socket, {.verb = "socket", .pod = pod},
                          {found->answer.address, wanted.port});
  }
  // A service may stand for addresses outside.
  return dial_outside(found ? found->answer.address : wanted.host, wanted.port);
}

}  // namespace codeflare::node::internal
