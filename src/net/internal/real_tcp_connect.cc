#include "net/internal/real_resolve.h"
#include "net/internal/real_socket.h"
#include "net/tcp_connect.h"

#include <utility>
#include <vector>

namespace codeflare::net {

namespace {

Task<Result<internal::Socket>> connect_made(
    Env env, internal::Endpoint endpoint,
    const std::function<Task<Result<FileDescriptor>>()>& make) {
  if (!make) {
    co_return co_await internal::connect_to(env.loop, endpoint);
  }
  CO_TRY_ASSIGN(FileDescriptor made, co_await make());
  internal::Socket socket(env.loop, made.release());
  co_return co_await internal::connect_by(std::move(socket), endpoint);
}

}  // namespace

Task<Result<void>> tcp_connect(Env env, std::string host, std::uint16_t port,
                               std::function<Task<Result<FileDescriptor>>()> make_socket) {
  CO_TRY_ASSIGN(const std::vector<internal::Endpoint> endpoints,
                co_await internal::resolve(env, std::move(host), port));
  Result<void> tried = fail(unavailable("no address"));
  for (const internal::Endpoint& endpoint : endpoints) {
    const Result<internal::Socket> socket = co_await connect_made(env, endpoint, make_socket);
    if (socket) {
      co_return Result<void>();
    }
    tried = fail(socket.error());
  }
  co_return tried;
}

}  // namespace codeflare::net
