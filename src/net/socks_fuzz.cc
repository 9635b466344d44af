#include "base/check.h"
#include "base/env/real_env.h"
#include "net/internal/real_stream.h"
#include "net/internal/socks.h"
#include "net/testing/raw_peer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

using namespace codeflare;
using namespace codeflare::net;

namespace {

// It fits into the buffers of a socket, so that it can be sent before anybody reads.
constexpr std::size_t kAnswersMax = 1024;

// The proxy has said everything before it is asked, and ends. Then there is either a tunnel or an
// error that says why not.
Task<Result<void>> ask(Env env, testing::RawServer& server, std::string answers, Url proxy,
                       Url endpoint) {
  CO_TRY_ASSIGN(net::internal::Endpoint at,
                net::internal::parse_endpoint("127.0.0.1", server.port()));
  CO_TRY_ASSIGN(net::internal::Socket socket, co_await net::internal::connect_to(env.loop, at));
  CO_TRY_ASSIGN(testing::RawPeer peer, co_await server.accept());
  CO_TRY(co_await peer.send(std::move(answers)));
  peer.socket().shutdown_write();
  net::internal::Stream stream(std::move(socket));
  const Result<void> open = co_await net::internal::ask_socks(stream, proxy, endpoint);
  CHECK(open || !open.error().message.empty());
  co_return Result<void>();
}

}  // namespace

// The first byte chooses what is asked: with or without a password, for a name or for an address.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static RealEnv world;
  static testing::RawServer server = testing::RawServer::listen(world.env()).value();
  if (size == 0 || size > kAnswersMax) {
    return 0;
  }
  std::string answers(reinterpret_cast<const char*>(data + 1), size - 1);
  Url proxy{.scheme = "socks5", .host = "proxy", .port = 1080};
  if ((data[0] & 1) != 0) {
    proxy.user = "me";
    proxy.password = "word";
  }
  Url endpoint{.scheme = "https", .host = "server.test", .port = 443};
  if ((data[0] & 2) != 0) {
    endpoint.host = (data[0] & 4) != 0 ? "fd00::1" : "192.0.2.7";
  }
  const auto asked =
      run(world.env().loop, ask(world.env(), server, std::move(answers), proxy, endpoint));
  CHECK(asked && *asked, "the loopback connection failed");
  return 0;
}
