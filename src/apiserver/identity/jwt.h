#pragma once

#include "apiserver/identity/signing_key.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// The claims of a service-account token. Times are seconds since 1970.
struct TokenClaims {
  std::string issuer{};
  std::string subject{};
  std::vector<std::string> audiences{};
  std::optional<std::int64_t> expires{};
  std::optional<std::int64_t> not_before{};
  std::optional<std::int64_t> issued_at{};
  std::string id{};

  struct Ref {
    std::string name{};
    std::string uid{};
    friend bool operator==(const Ref&, const Ref&) = default;
  };
  std::string ns{};
  Ref service_account{};
  std::optional<Ref> pod{};
  std::optional<Ref> secret{};
  std::optional<Ref> node{};
  std::optional<std::int64_t> warn_after{};  // later use counts as stale, not as wrong

  friend bool operator==(const TokenClaims&, const TokenClaims&) = default;
};

// A JWT in compact form taken apart; nothing of it is to be believed before its signature is
// verified.
struct ParsedToken {
  std::string algorithm{};
  std::string key_id{};  // empty: not said
  TokenClaims claims{};
  std::string_view signed_part{};  // into the text
  std::string signature{};
};

// Errors are invalid_argument and show nothing of the token.
Result<ParsedToken> parse_token(std::string_view text);

std::string sign_token(const SigningKey& key, const TokenClaims& claims);

}  // namespace codeflare::apiserver
