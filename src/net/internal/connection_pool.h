#pragma once

#include "base/env/env.h"
#include "net/client.h"
#include "net/connect_error.h"
#include "net/internal/input_buffer.h"
#include "net/internal/real_stream.h"
#include "net/internal/real_tls.h"

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace codeflare::net::internal {

struct ClientConnection {
  explicit ClientConnection(Stream stream_in) : stream(std::move(stream_in)) {}
  Stream stream;
  InputBuffer input;
  Instant idle_since;
  std::uint64_t generation = 0;  // of the credentials it was made with
};

// Connections to one endpoint: makes new ones and keeps idle ones. An idle connection that the
// server closes is noticed at once and dropped.
class ConnectionPool : public std::enable_shared_from_this<ConnectionPool> {
 public:
  // Null where a side does not speak TLS.
  struct Security {
    std::shared_ptr<TlsContext> server;
    std::shared_ptr<TlsContext> proxy;
  };

  ConnectionPool(Env env, Url endpoint, ClientOptions options, Security security);
  ~ConnectionPool();

  // Null when there is none.
  std::unique_ptr<ClientConnection> take_idle();
  Task<Result<std::unique_ptr<ClientConnection>>> connect();
  void give_back(std::unique_ptr<ClientConnection> connection);
  void set_security(Security security);

  const Env& env() const { return env_; }
  const Url& endpoint() const { return endpoint_; }
  const ClientOptions& options() const { return options_; }
  // Whether requests go to a proxy as they are, instead of through a tunnel.
  bool forwards() const {
    return options_.proxy && options_.proxy->scheme != "socks5" && !endpoint_.tls();
  }
  // Value of Proxy-Authorization; empty without credentials.
  std::string proxy_authorization() const;
  // Shared by all connections: it is only touched in the step in which bytes arrive.
  std::span<char> read_buffer() { return buffer_; }
  std::uint64_t connects() const { return connects_; }
  std::size_t idle_count() const { return idle_.size(); }

 private:
  // Leaves in `step` how far it came.
  Task<Result<std::unique_ptr<ClientConnection>>> connect_now(ConnectStep* step);
  Task<Result<Socket>> connect_socket(const Url& to);
  Task<Result<Socket>> connect_endpoint(Endpoint endpoint);
  Task<Result<std::unique_ptr<TlsSession>>> secure_proxy(Socket& socket);
  Task<Result<void>> open_tunnel(Socket& socket, std::unique_ptr<TlsSession>& session);
  Task<Result<void>> ask_http(Stream& stream);
  void watch_idle(ClientConnection& connection);
  void on_idle_readable(ClientConnection& connection);
  void start_expiry();
  void drop_expired();

  Env env_;
  Url endpoint_;
  ClientOptions options_;
  Security security_;
  std::list<std::unique_ptr<ClientConnection>> idle_;  // longest idle first
  std::optional<TimerId> expiry_;
  std::uint64_t connects_ = 0;
  std::uint64_t generation_ = 0;  // of the credentials
  std::array<char, 64u << 10> buffer_;
};

}  // namespace codeflare::net::internal
