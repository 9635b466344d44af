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
// sent. The receiver of the response, over sockets or in process, talks through converse().
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

// The body of a response with status 101 as a client over sockets receives it: the connection
// itself, closed when the body is dropped.
class UpgradedBody : public BodyStream {
 public:
  virtual ByteStream& connection() = 0;
  Task<Result<Bytes>> read() override {
    co_return fail(unsupported("the answer is a connection, not a body"));
  }
};

// The client's side of an upgrade: gives `talk` the connection of a response with status 101 and
// closes it when `talk` returns. The same for a remote server, a service in this process (whose
// takeover runs meanwhile and is then asked to stop) and a simulated link. Fails when the response
// is not an upgrade.
//   Request asks with `Upgrade` and `Connection: Upgrade`.
Task<Result<void>> converse(Response response, Takeover talk);

}  // namespace codeflare::net
