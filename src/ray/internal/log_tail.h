#pragma once

#include "base/async/task.h"
#include "base/env/env.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/http.h"
#include "net/websocket_connection.h"
#include "ray/client.h"

#include <cstdint>
#include <string>

namespace codeflare::ray::internal {

// Follows one log over as many connections as it takes. Each connection begins with the log's first
// byte (Ray cannot begin elsewhere), so what was shown before is skipped.
class LogTail {
 public:
  struct Timeouts {
    Duration open;  // until the server has answered the handshake
    Duration ping;  // without a byte
  };
  LogTail(Env env, net::HttpService& service, LogSink& sink, Timeouts timeouts)
      : env_(env), service_(service), sink_(sink), timeouts_(timeouts) {}

  // One connection. Fine when it closed or broke, which says nothing about the job. An error is the
  // server's rejection, or the sink's.
  Task<Result<void>> follow(net::Request request);
  // The whole log, from elsewhere: shows what is new in it.
  Task<Result<void>> finish(std::string log);

  // Bytes that the sink has got.
  std::uint64_t shown() const { return shown_; }

 private:
  Task<void> read(net::ByteStream& connection);
  Task<Result<void>> read_messages(net::ByteStream& connection);
  Task<Result<void>> take(std::string text, std::uint64_t& position);

  Env env_;
  net::HttpService& service_;
  LogSink& sink_;
  Timeouts timeouts_;
  std::uint64_t shown_ = 0;
  Result<void> outcome_;
};

}  // namespace codeflare::ray::internal
