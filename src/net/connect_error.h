#pragma once

#include "base/error.h"

#include <cstdint>
#include <optional>

namespace codeflare::net {

// The step at which a connection failed, so that callers who know where its settings come from can
// name the setting to look at. Errors of HttpClient that come before the first request carry one.
enum class ConnectStep : std::uint8_t {
  proxy,     // the proxy does not answer or rejects the request
  server,    // look-up, TCP or the TLS handshake with the server itself
  protocol,  // the server does not speak TLS
  trust,     // no known authority signed the server's certificate
  name,      // the certificate is for other names
};

struct ConnectDetail : ErrorDetail {
  explicit ConnectDetail(ConnectStep step_in) : step(step_in) {}
  ConnectStep step;
};

// The error with the step as its detail, unless it carries one already.
Error at_step(ConnectStep step, Error error);

std::optional<ConnectStep> connect_step(const Error& error);

}  // namespace codeflare::net
