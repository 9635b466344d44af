#pragma once

#include "net/http.h"
#include "net/internal/connection_pool.h"
#include "net/internal/http1.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::net::internal {

// The body of a request on its way. Remembers what it handed out, within a bound, so that a request
// can be sent again on another connection.
class OutgoingBody final : public BodyStream {
 public:
  explicit OutgoingBody(Body inner) : inner_(std::move(inner)) {}
  Task<Result<Bytes>> read() override;
  std::optional<Bytes> ready() override;

  bool can_rewind() const { return !forgotten_; }
  void rewind() { next_ = 0; }
  // Set when the producer failed: then the fault is not the connection's.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void remember(const Bytes& piece);

  Body inner_;
  std::vector<Bytes> seen_;
  std::size_t seen_bytes_ = 0;
  std::size_t next_ = 0;
  bool forgotten_ = false;
  std::optional<Error> failure_;
};

struct OutgoingRequest {
  std::string method;
  std::string head;  // as sent
  Framing framing;
  std::unique_ptr<OutgoingBody> body;  // null: none
  bool upgrade = false;                // asks to leave HTTP behind
};

// The outcome of one attempt to send a request on one connection.
struct Attempt {
  Result<Response> response;
  bool wrote = false;     // at least one byte may have reached the server
  bool received = false;  // at least one byte came back
};

// Sends the request and reads the response's head. The connection goes on to the response's body
// and from there back to the pool, or is closed.
Task<Attempt> exchange(std::shared_ptr<ConnectionPool> pool,
                       std::unique_ptr<ClientConnection> connection, OutgoingRequest& request);

}  // namespace codeflare::net::internal
