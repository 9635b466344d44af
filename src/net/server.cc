#include "net/server.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "net/internal/real_tls.h"
#include "net/internal/server_connection.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::net {

using internal::ServerConnection;
using internal::Socket;
using internal::Stream;

namespace {

constexpr std::ptrdiff_t kShedAtOnce = 64;
// A connection that has asked nothing yet, or not all of it, is given this long before it has to
// make room.
constexpr Duration kFreshTime = std::chrono::seconds(1);
// See make_records: one row whenever there are more connections than ever before.
constexpr std::size_t kRecordsInRow = 64;

}  // namespace

struct HttpServer::Parts {
  Parts(Env env, HttpService& service, ServerOptions options)
      : shared{.env = env, .service = service, .options = std::move(options)},
        accepting(env.loop),
        serving(env.loop) {}

  Task<void> accept_loop(Socket listener);
  Result<void> accept_ready(Socket& listener);
  Task<void> serve(Socket socket);
  Task<Result<void>> wait_for_room() { co_return co_await room.wait(); }
  void shed();

  internal::ServerShared shared;
  std::shared_ptr<internal::TlsContext> tls;
  Result<void> tls_state;
  std::list<ServerConnection*> connections;
  std::size_t count = 0;    // accepted and not yet ended
  std::size_t records = 0;  // made by make_records
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

Result<void> HttpServer::listen_on(FileDescriptor listener) {
  TRY(parts_->tls_state);
  Socket socket(parts_->shared.env.loop, listener.release());
  parts_->accepting.spawn(parts_->accept_loop(std::move(socket)));
  return {};
}

std::size_t HttpServer::connections() const {
  return parts_->count;
}

Task<void> HttpServer::Parts::accept_loop(Socket listener) {
  for (;;) {
    if (!co_await listener.readable()) {
      co_return;
    }
    while (count >= shared.options.connections_max) {
      shed();
      shared.crowded = true;
      Task<Result<void>> wait = wait_for_room();
      Result<void> woken = co_await with_timeout(kFreshTime, "room", std::move(wait));
      shared.crowded = false;
      if (!woken && woken.error().code != ErrorCode::deadline_exceeded) {
        co_return;
      }
    }
    if (!accept_ready(listener)) {
      // Out of descriptors or memory: others have to end first.
      shed();
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
    if (count > records) {
      const std::size_t row = std::min(kRecordsInRow, shared.options.connections_max - records);
      internal::make_records(shared.env.loop, row);
      records += row;
    }
    serving.spawn(serve(std::move(socket)));
  }
  return {};
}

// Makes room for those who want something: ends the connections that have been idle for longest or,
// when there is none, those that have owed the rest of a request for longest. A client that has
// nothing to ask, or does not come to the end of it, must not keep out one that has.
void HttpServer::Parts::shed() {
  using Since = std::pair<Instant, ServerConnection*>;
  std::vector<Since> idle;
  std::vector<Since> owing;
  const Instant now = shared.env.loop.now();
  for (ServerConnection* connection : connections) {
    const std::optional<Instant> quiet = connection->idle_since();
    if (quiet && (connection->has_served() || now - *quiet >= kFreshTime)) {
      idle.emplace_back(*quiet, connection);
    }
    const std::optional<Instant> owed = connection->owed_since();
    if (owed && now - *owed >= kFreshTime) {
      owing.emplace_back(*owed, connection);
    }
  }
  std::vector<Since>& ended = idle.empty() ? owing : idle;
  // Several at once, because looking for them takes a while.
  const auto end = ended.begin() + std::min<std::ptrdiff_t>(std::ssize(ended), kShedAtOnce);
  std::ranges::partial_sort(ended, end);
  for (auto it = ended.begin(); it != end; ++it) {
    it->second->end_if_idle();
    it->second->give_up_if_owed();
  }
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
    connection->end_if_idle();
  }
  const TaskContext& context = co_await current_context();
  TimerId timer = context.loop->start_timer(after(context.loop->now(), grace),
                                            [&parts] { parts.serving.request_stop(); });
  StopCallback hurry(context.stop, [&parts] { parts.serving.request_stop(); });
  co_await parts.serving.join();
  context.loop->cancel_timer(timer);
}

}  // namespace codeflare::net
