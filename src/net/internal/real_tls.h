#pragma once

#include "net/http.h"
#include "net/internal/real_socket.h"
#include "net/tls.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::net::internal {

// TLS on one connection, on top of a socket's descriptor or of another session on it: that is how a
// tunnel through a proxy by TLS is made. Idle sessions hold no record buffers.
class TlsSession {
 public:
  struct Parts;
  explicit TlsSession(std::unique_ptr<Parts> parts);
  ~TlsSession();

  // Awaits the handshake on the socket that the session was started on. Fails with
  // failed_precondition and one clear line when a certificate is not accepted.
  Task<Result<void>> handshake(Socket& socket);

  Io try_read(std::span<char> buffer);
  Io try_write(std::span<const iovec> pieces);
  // As try_write, but the records are appended to `wire`, for somebody who sends them before
  // anything else is asked of the session, or has them held.
  Io prepare(std::span<const iovec> pieces, std::string& wire);
  // Records that wait to be sent; whatever TLS has to say meanwhile goes behind them.
  void hold(std::string_view records);
  std::string_view held() const;
  void sent_held(std::size_t bytes);
  // Asks for the memory that prepare() will need, ahead of it: step by step, because each finds its
  // memory in that of the step before.
  static constexpr std::size_t kFetchSteps = 3;
  void fetch(std::size_t step) const;
  bool holds_input() const;
  Error last_error() const;
  void send_close_notify();

  // Of a client, on the server's side.
  std::optional<Peer::Certificate> verified_certificate() const;
  bool foreign_certificate() const;

 private:
  std::unique_ptr<Parts> parts_;
};

// Keys, certificates and rules that many sessions share.
class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> for_client(const TlsClientOptions& options);
  // For a proxy on the way to a server with these options. As kubectl does it, what verifies the
  // server verifies the proxy, or nothing does; beside it the system's roots count, which sign most
  // proxies. The server's name and our certificate are none of its business.
  static Result<std::shared_ptr<TlsContext>> for_proxy(const TlsClientOptions& server);
  static Result<std::shared_ptr<TlsContext>> for_server(const TlsServerOptions& options);
  ~TlsContext();

  // `host` is the name or address to verify (client side). With `outer`, whose handshake is over,
  // its bytes go through that session.
  Result<std::unique_ptr<TlsSession>> start(const Socket& socket, const std::string& host,
                                            std::unique_ptr<TlsSession> outer = nullptr) const;

 private:
  struct Parts;
  explicit TlsContext(std::unique_ptr<Parts> parts);
  static Result<std::shared_ptr<TlsContext>> make_client(const TlsClientOptions& options,
                                                         bool system_roots);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::net::internal
