#include "node/holder/internal/real_http_proxy.h"
#include "node/holder/internal/real_sockets.h"
#include "node/holder/network_proxy.h"
#include "node/wire/holder_call.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

constexpr int kUsageError = 2;

Result<void> serve_egress(const std::string& directory) {
  const std::string holder = directory + "/holder.sock";
  const pid_t parent = ::getppid();
  TRY_ASSIGN(const HolderReply state, call_holder(holder, {.verb = "state"}));
  HolderRequest request{.verb = "listen", .address = state.answer.gateway, .port = kEgressPort};
  TRY_ASSIGN(const HolderReply listening, call_holder(holder, request));
  if (listening.descriptors.empty()) {
    return fail(internal_error("the holder gave no socket"));
  }
  return internal::run_http_proxy(
      listening.descriptors.front(),
      [&holder](const internal::Destination& wanted) {
        return internal::dial_for_pod(holder, wanted);
      },
      [parent] { return ::getppid() == parent; });
}

}  // namespace

int node_egress_main(int count, char** arguments) {
  if (count != 1) {
    std::fputs("usage: codeflare node-egress DIR\n", stderr);
    return kUsageError;
  }
  const Result<void> served = serve_egress(arguments[0]);
  if (!served) {
    std::fprintf(stderr, "%s\n", served.error().message.c_str());
    return 1;
  }
  return 0;
}

Result<void> serve_cluster_proxy(const std::string& holder, const std::string& address,
                                 std::uint16_t port,
                                 const std::function<void(std::uint16_t port)>& ready) {
  const auto at = Ipv4::parse(address);
  if (!at) {
    return fail(invalid_argument("\"" + address + "\" is not an IPv4 address"));
  }
  // Said now, and not to the first client.
  TRY(call_holder(holder, {.verb = "state"}));
  TRY_ASSIGN(const FileDescriptor listener, internal::listen_tcp({*at, port}));
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const FileDescriptor signals(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) {
    return fail(posix_error(errno, "wait for signals"));
  }
  sockaddr_in bound{};
  socklen_t size = sizeof bound;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size);
  ready(internal::from_sockaddr(bound).port);
  return internal::run_http_proxy(
      listener,
      [&holder](const internal::Destination& wanted) {
        return internal::dial_inside(holder, wanted.host, wanted.port);
      },
      [] { return true; }, signals);
}

}  // namespace codeflare::node
