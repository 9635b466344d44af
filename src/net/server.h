#pragma once

#include "base/env/env.h"
#include "base/posix.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"
#include "net/tls.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace codeflare::net {

struct ServerOptions {
  std::optional<TlsServerOptions> tls;  // absent: plain HTTP
  std::size_t header_bytes_max = 64u << 10;
  std::optional<std::uint64_t> body_bytes_max;  // of one request
  // Beyond this the longest idle connections are ended, when none is idle those that have been
  // sending one request for longest, and else the new ones wait in the system's queue.
  std::size_t connections_max = 16384;
  // Handshake and head of a request, from its first byte: against clients that send drop by drop.
  Duration header_timeout = std::chrono::seconds(10);
  // Without a request under way.
  Duration idle_timeout = std::chrono::seconds(120);
  // Without a byte of progress in the body of a request, or of a response that waits to be taken.
  Duration stall_timeout = std::chrono::seconds(60);
  // Without a byte either way on a connection that was taken over.
  Duration upgraded_idle_timeout = std::chrono::hours(4);
};

// Puts a service behind a socket: HTTP/1.1 with keep-alive and pipelining in order. A client that
// goes away stops the task that serves it. The service outlives this; drain() has to be awaited
// before destruction.
//   HttpServer server(env, service, {});
//   TRY_ASSIGN(std::uint16_t port, server.listen("127.0.0.1", 0));
class HttpServer {
 public:
  HttpServer(Env env, HttpService& service, ServerOptions options);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Starts to accept at a literal address; port 0 takes any. Returns the port. Several addresses
  // may be listened on.
  Result<std::uint16_t> listen(const std::string& address, std::uint16_t port);

  // The same on a socket that listens already, wherever it is from.
  Result<void> listen_on(FileDescriptor listener);

  // New certificates for the connections to come; the old ones stay in use when these are bad.
  Result<void> reload_tls(const TlsServerOptions& options);

  // Stops accepting, closes idle connections, lets requests finish for `grace`, then cancels them.
  Task<void> drain(Duration grace);

  std::size_t connections() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::net
