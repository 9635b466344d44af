#include "net/internal/connection_pool.h"

#include "base/async/sleep.h"
#include "base/base64.h"
#include "net/internal/http1.h"
#include "net/internal/real_resolve.h"
#include "net/internal/socks.h"

#include <utility>

namespace codeflare::net::internal {

ConnectionPool::ConnectionPool(Env env, Url endpoint, ClientOptions options, Security security)
    : env_(env),
      endpoint_(std::move(endpoint)),
      options_(std::move(options)),
      security_(std::move(security)) {
  // The key lives in the TLS context alone.
  options_.tls = {};
}

ConnectionPool::~ConnectionPool() {
  if (expiry_) {
    env_.loop.cancel_timer(*expiry_);
  }
}

std::string ConnectionPool::proxy_authorization() const {
  if (!options_.proxy || (options_.proxy->user.empty() && options_.proxy->password.empty())) {
    return {};
  }
  return "Basic " + to_base64(options_.proxy->user + ":" + options_.proxy->password);
}

void ConnectionPool::set_security(Security security) {
  security_ = std::move(security);
  idle_.clear();
  ++generation_;
}

std::unique_ptr<ClientConnection> ConnectionPool::take_idle() {
  drop_expired();
  if (idle_.empty()) {
    return nullptr;
  }
  // The most recently used: the others may expire.
  std::unique_ptr<ClientConnection> connection = std::move(idle_.back());
  idle_.pop_back();
  connection->stream.socket().unwatch();
  return connection;
}

void ConnectionPool::give_back(std::unique_ptr<ClientConnection> connection) {
  if (!connection->input.empty() || connection->generation != generation_ ||
      options_.idle_connections_max == 0) {
    return;
  }
  connection->idle_since = env_.loop.now();
  watch_idle(*connection);
  idle_.push_back(std::move(connection));
  if (idle_.size() > options_.idle_connections_max) {
    idle_.pop_front();
  }
  start_expiry();
}

void ConnectionPool::watch_idle(ClientConnection& connection) {
  connection.stream.socket().watch([weak = weak_from_this(), &connection] {
    if (std::shared_ptr<ConnectionPool> pool = weak.lock()) {
      pool->on_idle_readable(connection);
    }
  });
}

// Nothing may arrive on an idle connection but its end (and what TLS keeps to itself).
void ConnectionPool::on_idle_readable(ClientConnection& connection) {
  if (connection.stream.try_read(buffer_).kind == Io::Kind::want_read) {
    watch_idle(connection);
    return;
  }
  idle_.remove_if([&](const auto& each) { return each.get() == &connection; });
}

void ConnectionPool::start_expiry() {
  if (!expiry_ && !idle_.empty()) {
    expiry_ =
        env_.loop.start_timer(after(idle_.front()->idle_since, options_.idle_timeout), [this] {
          expiry_.reset();
          drop_expired();
          start_expiry();
        });
  }
}

void ConnectionPool::drop_expired() {
  Instant now = env_.loop.now();
  while (!idle_.empty() && after(idle_.front()->idle_since, options_.idle_timeout) <= now) {
    idle_.pop_front();
  }
}

Task<Result<std::unique_ptr<ClientConnection>>> ConnectionPool::connect() {
  std::string what = "connect to " + endpoint_.host_and_port();
  ConnectStep step = options_.proxy ? ConnectStep::proxy : ConnectStep::server;
  Result<std::unique_ptr<ClientConnection>> connection =
      co_await with_timeout(options_.connect_timeout, what, connect_now(&step));
  if (connection) {
    co_return connection;
  }
  Error error = std::move(connection).error();
  if (error.code == ErrorCode::deadline_exceeded) {
    // Nothing was sent yet, so nothing can have happened.
    error.code = ErrorCode::unavailable;
  }
  co_return fail(at_step(step, std::move(error)));
}

Task<Result<std::unique_ptr<ClientConnection>>> ConnectionPool::connect_now(ConnectStep* step) {
  std::uint64_t generation = generation_;
  std::shared_ptr<TlsContext> tls = security_.server;
  CO_TRY_ASSIGN(Socket socket, co_await connect_socket(options_.proxy.value_or(endpoint_)));
  ++connects_;
  socket.set_no_delay();
  socket.set_dead_peer_detection(
      {options_.keepalive_idle, options_.keepalive_probes, options_.user_timeout});
  std::unique_ptr<TlsSession> session;
  if (security_.proxy != nullptr) {
    CO_TRY_ASSIGN(session, co_await secure_proxy(socket));
  }
  if (options_.proxy && !forwards()) {
    CO_TRY(co_await open_tunnel(socket, session));
    *step = ConnectStep::server;
  }
  if (tls != nullptr) {
    CO_TRY_ASSIGN(session, tls->start(socket, endpoint_.host, std::move(session)));
    Result<void> secured = co_await session->handshake(socket);
    if (!secured) {
      co_return fail(secured.error().with_context("TLS with " + endpoint_.host_and_port()));
    }
  }
  auto connection =
      std::make_unique<ClientConnection>(Stream(std::move(socket), std::move(session)));
  connection->generation = generation;
  co_return connection;
}

Task<Result<Socket>> ConnectionPool::connect_endpoint(Endpoint endpoint) {
  if (!options_.make_socket) {
    co_return co_await connect_to(env_.loop, endpoint);
  }
  CO_TRY_ASSIGN(FileDescriptor made, co_await options_.make_socket());
  Socket socket(env_.loop, made.release());
  co_return co_await connect_by(std::move(socket), endpoint);
}

// Tries every address; reports the last failure.
Task<Result<Socket>> ConnectionPool::connect_socket(const Url& to) {
  std::string host = to.host;
  CO_TRY_ASSIGN(std::vector<Endpoint> endpoints, co_await resolve(env_, std::move(host), to.port));
  Error error = unavailable("no address");
  for (const Endpoint& endpoint : endpoints) {
    Result<Socket> socket = co_await connect_endpoint(endpoint);
    if (socket || socket.error().code == ErrorCode::cancelled) {
      co_return socket;
    }
    error = std::move(socket).error();
  }
  co_return fail(std::move(error));
}

Task<Result<std::unique_ptr<TlsSession>>> ConnectionPool::secure_proxy(Socket& socket) {
  const Url& proxy = *options_.proxy;
  std::shared_ptr<TlsContext> tls = security_.proxy;
  CO_TRY_ASSIGN(std::unique_ptr<TlsSession> session, tls->start(socket, proxy.host));
  Result<void> secured = co_await session->handshake(socket);
  if (!secured) {
    // Any error here is the proxy's: no setting of the server is to blame.
    Error error = std::move(secured).error();
    error.detail = nullptr;
    co_return fail(std::move(error).with_context("TLS with the proxy " + proxy.host_and_port()));
  }
  co_return session;
}

// Asks the proxy to pass bytes on to the endpoint. They belong to TLS: its answer is read without a
// byte too many.
Task<Result<void>> ConnectionPool::open_tunnel(Socket& socket,
                                               std::unique_ptr<TlsSession>& session) {
  const Url& proxy = *options_.proxy;
  Stream stream(std::move(socket), std::move(session));
  Result<void> open = proxy.scheme == "socks5" ? co_await ask_socks(stream, proxy, endpoint_)
                                               : co_await ask_http(stream);
  if (!open) {
    co_return fail(std::move(open).error().with_context("proxy " + proxy.host_and_port()));
  }
  socket = std::move(stream.socket());
  session = stream.take_tls();
  co_return Result<void>();
}

Task<Result<void>> ConnectionPool::ask_http(Stream& stream) {
  std::string target = endpoint_.host_and_port();
  Request request{.method = "CONNECT", .target = target, .headers = {{"Host", target}}};
  if (std::string authorization = proxy_authorization(); !authorization.empty()) {
    request.headers.add("Proxy-Authorization", std::move(authorization));
  }
  std::string head;
  CO_TRY(write_request_head(head, request, {}));
  CO_TRY(co_await stream.write(head));
  HeadScanner scanner(options_.header_bytes_max);
  std::string answer;
  std::optional<std::size_t> size;
  while (!size) {
    char byte = 0;
    CO_TRY_ASSIGN(const std::size_t count, co_await stream.read(std::span(&byte, 1)));
    if (count == 0) {
      co_return fail(unavailable("it closed the connection"));
    }
    answer += byte;
    Wire<std::optional<std::size_t>> scanned = scanner.scan(answer);
    if (!scanned) {
      co_return fail(unavailable(scanned.error().what));
    }
    size = *scanned;
  }
  Wire<ResponseHead> response = parse_response_head(answer, "CONNECT");
  if (!response) {
    co_return fail(unavailable(response.error().what));
  }
  if (response->status < 200 || response->status > 299) {
    co_return fail(unavailable("it rejected the connection to " + target + ": status " +
                               std::to_string(response->status)));
  }
  co_return Result<void>();
}

}  // namespace codeflare::net::internal
