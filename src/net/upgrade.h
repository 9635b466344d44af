#pragma once

#include "base/async/task.h"
#include "net/byte_stream.h"
#include "net/http.h"

#include <functional>
#include <utility>

namespace codeflare::net {

// Serves a connection that has left HTTP behind; the connection closes when it returns.
using Takeover = std::function<Task<void>(ByteStream& connection)>;

// The body of a response with status 101: not sent, but given the connection once the head has been
// sent. Over sockets only; for whoever reads it in process there is nothing.
//   response.body = std::make_unique<Upgrade>(takeover);
class Upgrade final : public BodyStream {
 public:
  explicit Upgrade(Takeover takeover) : takeover_(std::move(takeover)) {}
  const Takeover& takeover() const { return takeover_; }
  Task<Result<Bytes>> read() override {
    co_return fail(unsupported("the answer is a connection, not a body"));
  }

 private:
  Takeover takeover_;
};

}  // namespace codeflare::net
