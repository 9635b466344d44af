#pragma once

#include "apiserver/identity/jwt.h"
#include "apiserver/identity/signing_key.h"
#include "apiserver/identity/token_answer.h"
#include "apiserver/store/store.h"
#include "base/env/env.h"
#include "base/result.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace codeflare::apiserver {

inline constexpr std::string_view kServiceAccountIssuer =
    "https://kubernetes.default.svc.cluster.local";

// Issues and checks the tokens of service accounts: signature, times, audience, and that the
// account and the object that a token is bound to are still the same ones.
class ServiceAccountTokens {
 public:
  struct Options {
    std::string issuer{kServiceAccountIssuer};
    // The default audiences of tokens, and the audiences that requests need; empty: the issuer.
    std::vector<std::string> audiences{};
  };
  // Store and environment outlive this.
  ServiceAccountTokens(Env env, Store& store, SigningKey key, Options options);
  ~ServiceAccountTokens();

  const std::string& issuer() const { return options_.issuer; }
  const std::vector<std::string>& audiences() const { return options_.audiences; }
  const SigningKey& key() const { return key_; }

  // Fills in issuer, subject, times and id; the caller says for whom.
  struct Request {
    std::string ns{};
    TokenClaims::Ref service_account{};
    std::optional<TokenClaims::Ref> pod{};
    std::optional<TokenClaims::Ref> secret{};
    std::optional<TokenClaims::Ref> node{};
    std::vector<std::string> audiences{};  // empty: the server's
    std::chrono::seconds lifetime{3600};
    std::optional<std::chrono::seconds> warn_after{};
  };
  std::string issue(const Request& request);

  // Nothing when it is not a token of this issuer; an error in upstream's words when it is an
  // invalid one. `audiences` empty: the server's.
  Result<std::optional<TokenAnswer>> check(std::string_view token,
                                           const std::vector<std::string>& audiences);

 private:
  struct Collections;
  Result<std::optional<TokenClaims>> verify(std::string_view token);
  Result<void> check_times(const TokenClaims& claims) const;
  Result<void> check_objects(const TokenClaims& claims) const;
  bool has_gone(const Object& object) const;

  Env env_;
  Store& store_;
  SigningKey key_;
  Options options_;
  std::unique_ptr<const Collections> collections_;
  // Verifying costs a hundred times more than all the rest, and clients send the same token again
  // and again: claims whose signature was verified, by the token's digest.
  std::unordered_map<std::string, TokenClaims> verified_;
};

}  // namespace codeflare::apiserver
