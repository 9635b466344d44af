#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "net/internal/real_accept.h"
#include "net/internal/real_resolve.h"
#include "net/internal/real_socket.h"
#include "net/internal/real_stream.h"
#include "net/tcp_relay.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::net {

namespace {

using internal::Endpoint;
using internal::Socket;
using internal::Stream;

constexpr std::size_t kConnectionsMax = 1024;
constexpr std::size_t kPieceBytes = 16u << 10;
constexpr Duration kConnectWithin = std::chrono::seconds(30);

Task<Result<Socket>> dial(Env env, std::string host, std::uint16_t port) {
  CO_TRY_ASSIGN(const std::vector<Endpoint> endpoints,
                co_await internal::resolve(env, std::move(host), port));
  Result<Socket> socket = fail(unavailable("no address"));
  for (const Endpoint& endpoint : endpoints) {
    socket = co_await internal::connect_to(env.loop, endpoint);
    if (socket) {
      break;
    }
  }
  co_return socket;
}

// The end of one side is passed on to the other, which may still have something to say; a broken
// connection ends both.
Task<void> pass_on(Stream& from, Stream& to, TaskGroup& both) {
  std::array<char, kPieceBytes> buffer;
  for (;;) {
    const Result<std::size_t> size = co_await from.read(buffer);
    if (size && *size == 0) {
      to.finish_writing();
      co_return;
    }
    if (!size || !co_await to.write(std::string_view(buffer.data(), *size))) {
      both.request_stop();
      co_return;
    }
  }
}

Task<void> bring(Env env, Socket client, std::string host, std::uint16_t port) {
  const TaskContext& context = co_await current_context();
  Task<Result<Socket>> dialing = dial(env, std::move(host), port);
  Result<Socket> server =
      co_await with_timeout(kConnectWithin, "the connection of a relay", std::move(dialing));
  if (!server) {
    client.reset_on_close();
    co_return;
  }
  for (Socket* one : {&client, &*server}) {
    one->set_no_delay();
    one->set_dead_peer_detection({});
  }
  Stream here(std::move(client));
  Stream there(*std::move(server));
  TaskGroup both(env.loop, context.stop);
  both.spawn(pass_on(here, there, both));
  both.spawn(pass_on(there, here, both));
  co_await both.join();
}

}  // namespace

Task<void> relay_connections(Env env, FileDescriptor listener, std::string host,
                             std::uint16_t port) {
  Socket accepting(env.loop, listener.release());
  co_await internal::accept_all(env.loop, accepting, kConnectionsMax, [&](Socket client) {
    return bring(env, std::move(client), host, port);
  });
}

}  // namespace codeflare::net
