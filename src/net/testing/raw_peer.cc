#include "net/testing/raw_peer.h"

#include <array>

namespace codeflare::net::testing {

Task<Result<RawPeer>> RawPeer::connect(Env env, std::uint16_t port) {
  CO_TRY_ASSIGN(internal::Endpoint endpoint, internal::parse_endpoint("127.0.0.1", port));
  CO_TRY_ASSIGN(internal::Socket socket, co_await internal::connect_to(env.loop, endpoint));
  co_return RawPeer(std::move(socket));
}

Task<Result<RawPeer>> RawPeer::secured(RawPeer plain, TlsServerOptions options) {
  CO_TRY_ASSIGN(const std::shared_ptr<internal::TlsContext> context,
                internal::TlsContext::for_server(options));
  internal::Socket socket = std::move(plain.socket());
  CO_TRY_ASSIGN(std::unique_ptr<internal::TlsSession> session, context->start(socket, ""));
  CO_TRY(co_await session->handshake(socket));
  co_return RawPeer(std::move(socket), std::move(session));
}

Task<Result<void>> RawPeer::send(std::string text) {
  co_return co_await stream_.write(text);
}

Task<Result<std::string>> RawPeer::receive() {
  if (!input_.empty()) {
    co_return std::exchange(input_, std::string());
  }
  std::array<char, 4096> buffer;
  CO_TRY_ASSIGN(std::size_t count, co_await stream_.read(buffer));
  co_return std::string(buffer.data(), count);
}

Task<Result<std::string>> RawPeer::receive_until(std::string text) {
  std::string received;
  for (;;) {
    if (std::size_t at = received.find(text); at != std::string::npos) {
      input_ = received.substr(at + text.size());
      co_return received.substr(0, at + text.size());
    }
    CO_TRY_ASSIGN(std::string more, co_await receive());
    if (more.empty()) {
      co_return fail(unavailable("closed after: " + received));
    }
    received += more;
  }
}

Task<Result<std::string>> RawPeer::receive_to_end() {
  std::string received;
  for (;;) {
    CO_TRY_ASSIGN(std::string more, co_await receive());
    if (more.empty()) {
      co_return received;
    }
    received += more;
  }
}

Result<RawServer> RawServer::listen(Env env) {
  TRY_ASSIGN(internal::Endpoint endpoint, internal::parse_endpoint("127.0.0.1", 0));
  TRY_ASSIGN(internal::Socket listener, internal::listen_on(env.loop, endpoint));
  return RawServer(env, std::move(listener));
}

Task<Result<RawPeer>> RawServer::accept() {
  for (;;) {
    CO_TRY_ASSIGN(internal::Socket socket, internal::accept_from(env_.loop, listener_));
    if (socket.open()) {
      co_return RawPeer(std::move(socket));
    }
    CO_TRY(co_await listener_.readable());
  }
}

}  // namespace codeflare::net::testing
