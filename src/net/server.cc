#include "net/server.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "net/internal/real_tls.h"
#include "net/internal/server_connection.h"

#include <list>
#include <utility>

namespace codeflare::net {

using internal::ServerConnection;
using internal::Socket;
using internal::Stream;

struct HttpServer::Parts {
  Parts(Env env, HttpService& service, ServerOptions options)
      : shared{env, service, std::move(options), false, {}},
        accepting(env.loop),
        serving(env.loop) {}

  Task<void> accept_loop(Socket listener);
  Result<void> accept_ready(Socket& listener);
  Task<void> serve(Socket socket);

  internal::ServerShared shared;
  std::shared_ptr<internal::TlsContext> tls;
  Result<void> tls_state;
  std::list<ServerConnection*> connections;
  std::size_t count = 0;  // accepted and not yet ended
  WaitList room;
  TaskGroup accepting;
  TaskGroup serving;
};

HttpServer::HttpServer(Env env, HttpService& service, ServerOptions options)
    : parts_(std::make_unique<Parts>(env, service, std::move(options))) {
  if (parts_->shared.options.tls) {
    parts_->tls_state = reload_tls(*parts_->shared.options.tls);
    // The key lives in the TLS context alone.
    *parts_->shared.options.tls = {};
  }
}

HttpServer::~HttpServer() = default;

Result<void> HttpServer::reload_tls(const TlsServerOptions& options) {
  TRY_ASSIGN(parts_->tls, internal::TlsContext::for_server(options));
  return {};
}

Result<std::uint16_t> HttpServer::listen(const std::string& address, std::uint16_t port) {
  TRY(parts_->tls_state);
  TRY_ASSIGN(internal::Endpoint endpoint, internal::parse_endpoint(address, port));
  TRY_ASSIGN(Socket listener, internal::listen_on(parts_->shared.env.loop, endpoint));
  std::uint16_t real_port = listener.local().port();
  parts_->accepting.spawn(parts_->accept_loop(std::move(listener)));
  return real_port;
}

std::size_t HttpServer::connections() const {
  return parts_->count;
}

Task<void> HttpServer::Parts::accept_loop(Socket listener) {
  for (;;) {
    while (count >= shared.options.connections_max) {
      if (!co_await room.wait()) {
        co_return;
      }
    }
    if (!co_await listener.readable()) {
      co_return;
    }
    if (!accept_ready(listener)) {
      // Out of descriptors or memory: others have to end first.
      if (!co_await sleep_for(std::chrono::milliseconds(100))) {
        co_return;
      }
    }
  }
}

Result<void> HttpServer::Parts::accept_ready(Socket& listener) {
  // A bound, so that a flood of connections leaves turns to those that are there.
  for (int i = 0; i < 64 && count < shared.options.connections_max; ++i) {
    TRY_ASSIGN(Socket socket, internal::accept_from(shared.env.loop, listener));
    if (!socket.open()) {
      break;
    }
    ++count;
    serving.spawn(serve(std::move(socket)));
  }
  return {};
}

Task<void> HttpServer::Parts::serve(Socket socket) {
  socket.set_no_delay();
  socket.set_dead_peer_detection({});
  std::unique_ptr<internal::TlsSession> session;
  bool usable = true;
  if (tls != nullptr) {
    Result<std::unique_ptr<internal::TlsSession>> started = tls->start(socket, "");
    usable = started.has_value();
    if (usable) {
      session = *std::move(started);
    }
  }
  if (usable) {
    auto connection =
        std::make_shared<ServerConnection>(shared, Stream(std::move(socket), std::move(session)));
    auto position = connections.insert(connections.end(), connection.get());
    co_await connection->run();
    connections.erase(position);
  }
  --count;
  room.notify_one();
}

Task<void> HttpServer::drain(Duration grace) {
  Parts& parts = *parts_;
  parts.shared.draining = true;
  co_await parts.accepting.close();
  for (ServerConnection* connection : parts.connections) {
    connection->on_drain();
  }
  const TaskContext& context = co_await current_context();
  TimerId timer = context.loop->start_timer(after(context.loop->now(), grace),
                                            [&parts] { parts.serving.request_stop(); });
  StopCallback hurry(context.stop, [&parts] { parts.serving.request_stop(); });
  co_await parts.serving.join();
  context.loop->cancel_timer(timer);
}

}  // namespace codeflare::net
