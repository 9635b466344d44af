#include "net/internal/real_resolve.h"
#include "net/internal/real_socket.h"
#include "net/tcp_connect.h"

#include <utility>
#include <vector>

namespace codeflare::net {

Task<Result<void>> tcp_connect(Env env, std::string host, std::uint16_t port) {
  CO_TRY_ASSIGN(const std::vector<internal::Endpoint> endpoints,
                co_await internal::resolve(env, std::move(host), port));
  Result<void> tried = fail(unavailable("no address"));
  for (const internal::Endpoint& endpoint : endpoints) {
    const Result<internal::Socket> socket = co_await internal::connect_to(env.loop, endpoint);
    if (socket) {
      co_return Result<void>();
    }
    tried = fail(socket.error());
  }
  co_return tried;
}

}  // namespace codeflare::net
