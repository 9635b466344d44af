#pragma once

#include "net/http.h"

#include <memory>

namespace codeflare::net {

// A service of the same process seen as a client sees a server: each request begins on a turn of
// the loop of its own, never on the caller's stack, under the identity given here. Body buffers are
// shared, not copied. The target outlives this.
class InProcessService final : public HttpService {
 public:
  InProcessService(HttpService& target, Peer identity);
  Task<Result<Response>> send(Request request) override;

 private:
  HttpService& target_;
  std::shared_ptr<const Peer> identity_;
};

}  // namespace codeflare::net
