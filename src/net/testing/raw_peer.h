#pragma once

#include "base/env/env.h"
#include "net/internal/real_stream.h"
#include "net/tls.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::net::testing {

// One end of a loopback connection that sends and receives bytes exactly as a test says.
class RawPeer {
 public:
  explicit RawPeer(internal::Socket socket, std::unique_ptr<internal::TlsSession> tls = nullptr)
      : stream_(std::move(socket), std::move(tls)) {}

  static Task<Result<RawPeer>> connect(Env env, std::uint16_t port);
  // The same connection by TLS, as its server.
  static Task<Result<RawPeer>> secured(RawPeer plain, TlsServerOptions options);

  Task<Result<void>> send(std::string text);
  // Waits for at least one byte; empty at the end.
  Task<Result<std::string>> receive();
  // Until `text` has been received; returns everything up to and including it.
  Task<Result<std::string>> receive_until(std::string text);
  Task<Result<std::string>> receive_to_end();

  internal::Socket& socket() { return stream_.socket(); }

 private:
  internal::Stream stream_;
  std::string input_;
};

// Accepts connections one after the other and hands each to the script, until drained by stop.
class RawServer {
 public:
  static Result<RawServer> listen(Env env);
  std::uint16_t port() const { return listener_.local().port(); }
  Task<Result<RawPeer>> accept();

 private:
  RawServer(Env env, internal::Socket listener) : env_(env), listener_(std::move(listener)) {}
  Env env_;
  internal::Socket listener_;
};

}  // namespace codeflare::net::testing
