#pragma once

#include "apiserver/request/user.h"
#include "base/async/task.h"
#include "base/result.h"
#include "net/http.h"

namespace codeflare::apiserver {

// Says who a request comes from: client certificate, bearer token. `unauthenticated` for
// credentials that are missing or wrong. Impersonation is applied later, by the pipeline.
class Authenticator {
 public:
  virtual ~Authenticator() = default;
  virtual Task<Result<User>> authenticate(const net::Request& request) = 0;
};

}  // namespace codeflare::apiserver
