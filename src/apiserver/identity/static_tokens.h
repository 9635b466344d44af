#pragma once

#include "apiserver/request/user.h"
#include "base/result.h"
#include "base/secret.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::apiserver {

// Tokens from a file of lines `token,user,uid,"group1,group2"` (CSV; the groups may be left out).
class StaticTokens {
 public:
  StaticTokens() = default;
  // Errors name `path` and the line, never a token. Empty tokens are skipped; of two equal ones
  // the later counts: `warnings` (may be null) hears of both.
  static Result<StaticTokens> parse(const Secret& text, const std::string& path,
                                    std::vector<std::string>* warnings);

  const User* find(std::string_view token) const;
  std::size_t size() const { return by_digest_.size(); }

 private:
  // Found by digest, so that the time of a look-up says nothing about how much of a token is right.
  std::map<std::string, User, std::less<>> by_digest_;
};

}  // namespace codeflare::apiserver
