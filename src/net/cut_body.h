#pragma once

#include "base/async/stop_token.h"
#include "net/http.h"

namespace codeflare::net {

// The body of a response that its service may cut, also while the client takes nothing of it.
class CutBody : public BodyStream {
 public:
  // When it stops, a server sends no more of the body and ends the connection.
  virtual StopToken cut() const = 0;
};

}  // namespace codeflare::net
