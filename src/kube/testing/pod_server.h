#pragma once

#include "base/async/task.h"
#include "net/http.h"
#include "net/upgrade.h"
#include "net/websocket.h"
#include "net/websocket_connection.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::kube::testing {

// An API server that upgrades every request to a WebSocket and lets a coroutine of the test play
// the pod behind it. For tests only.
class PodServer final : public net::HttpService {
 public:
  using Play = std::function<Task<void>(net::WebSocketConnection&)>;
  explicit PodServer(std::string protocol, Play play)
      : protocol_(std::move(protocol)), play_(std::move(play)) {}

  std::string target{};     // of the last request
  int rejected_status = 0;  // set: the answer instead of the upgrade
  std::string rejection{};

  Task<Result<net::Response>> send(net::Request request) override {
    target = request.target;
    if (rejected_status != 0) {
      co_return net::make_response(rejected_status, "application/json", Bytes::from(rejection));
    }
    net::Response response = net::websocket_response(request, protocol_);
    response.body = std::make_unique<net::Upgrade>(
        [this](net::ByteStream& connection) { return serve(connection); });
    co_return response;
  }

 private:
  Task<void> serve(net::ByteStream& connection) {
    net::WebSocketConnection socket(connection);
    co_await play_(socket);
  }

  std::string protocol_;
  Play play_;
};

// Sends bytes as the peer does, on one channel.
inline Task<void> say(net::WebSocketConnection& socket, char channel, std::string_view bytes) {
  static_cast<void>(
      co_await socket.write(net::WebSocketOpcode::binary, channel + std::string(bytes)));
}

// The next message of the client; empty when the client is gone.
inline Task<std::string> hear(net::WebSocketConnection& socket) {
  Result<std::optional<net::WebSocketMessage>> message = co_await socket.read();
  co_return message && *message ? (*message)->payload : std::string();
}

}  // namespace codeflare::kube::testing
