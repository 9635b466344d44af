#pragma once

#include "apiserver/identity/service_account_tokens.h"
#include "apiserver/identity/static_tokens.h"
#include "apiserver/identity/token_answer.h"
#include "apiserver/request/authenticator.h"
#include "base/result.h"

#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// Client certificate, static token, service-account token, in this order. No credentials:
// system:anonymous on the health endpoints and nobody elsewhere; wrong credentials are rejected
// everywhere. A call from the same process is known by the certificate in its Peer.
class RequestAuthenticator final : public Authenticator {
 public:
  // `tokens` outlives this.
  RequestAuthenticator(StaticTokens static_tokens, ServiceAccountTokens& tokens);

  Task<Result<User>> authenticate(const net::Request& request) override;

  // `unauthenticated` with the reason when the token does not hold; `audiences` empty: the
  // server's own.
  Result<TokenAnswer> check_token(std::string_view token,
                                  const std::vector<std::string>& audiences);

 private:
  Result<User> decide(const net::Request& request);

  StaticTokens static_tokens_;
  ServiceAccountTokens& tokens_;
};

// A user whom a certificate or a token vouches for is in system:authenticated.
void add_authenticated_group(User& user);

}  // namespace codeflare::apiserver
