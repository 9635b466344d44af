#include "net/internal/real_accept.h"
#include "net/internal/real_socket_stream.h"
#include "net/stream_listener.h"

#include <utility>

namespace codeflare::net {

namespace {

using internal::Socket;
using Talk = std::function<Task<void>(ByteStream&)>;

constexpr std::size_t kConnectionsMax = 1024;

Task<void> talk_over(Socket client, const Talk& talk) {
  client.set_no_delay();
  client.set_dead_peer_detection({});
  internal::SocketStream stream(std::move(client));
  co_await talk(stream);
}

class RealStreamListener final : public StreamListener {
 public:
  RealStreamListener(Loop& loop, Socket socket) : loop_(loop), socket_(std::move(socket)) {}

  std::uint16_t port() const override { return socket_.local().port(); }

  Task<void> serve(Talk talk) override {
    co_await internal::accept_all(loop_, socket_, kConnectionsMax, [&talk](Socket client) {
      return talk_over(std::move(client), talk);
    });
  }

 private:
  Loop& loop_;
  Socket socket_;
};

}  // namespace

Result<std::unique_ptr<StreamListener>> StreamListener::open(Env env, const std::string& address,
                                                             std::uint16_t port) {
  TRY_ASSIGN(const internal::Endpoint endpoint, internal::parse_endpoint(address, port));
  TRY_ASSIGN(Socket socket, internal::listen_on(env.loop, endpoint));
  return std::make_unique<RealStreamListener>(env.loop, std::move(socket));
}

}  // namespace codeflare::net
