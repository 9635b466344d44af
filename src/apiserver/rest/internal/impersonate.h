#pragma once

#include "apiserver/request/authorizer.h"
#include "apiserver/request/user.h"
#include "base/result.h"
#include "net/http.h"

namespace codeflare::apiserver::internal {

// The user that the request wants to act as: the Impersonate-* headers, each of which the real user
// must be allowed (verb impersonate). The user itself when there are none.
Result<User> impersonated(const User& user, const net::Headers& headers,
                          const Authorizer& authorizer);

}  // namespace codeflare::apiserver::internal
