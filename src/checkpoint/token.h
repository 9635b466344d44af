#pragma once

#include "base/result.h"
#include "base/secret.h"
#include "base/time.h"
#include "checkpoint/checkpoint.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::checkpoint {

inline constexpr std::string_view kEverything = "*";

// The reach of a token: one job, with "*" as UID a namespace, with "*" twice everything.
struct TokenScope {
  JobKey job{};
  std::int64_t expiry = 0;  // Unix seconds; 0: never

  bool reaches(const JobKey& wanted) const;
  bool reaches_namespace(std::string_view ns) const;
};

// "cf1.NAMESPACE.UID.EXPIRY.MAC"
Secret mint_token(const Secret& key, const TokenScope& scope);
// Fails with unauthenticated when the token was not made with the key or has expired.
Result<TokenScope> check_token(const Secret& key, std::string_view token, WallTime now);

}  // namespace codeflare::checkpoint
