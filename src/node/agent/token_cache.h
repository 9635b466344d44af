#pragma once

#include "base/time.h"
#include "node/agent/pod_inputs.h"

#include <map>
#include <string>
#include <utility>

namespace codeflare::node {

// A service account token that a pod was given. Never logged.
struct IssuedToken {
  std::string token;
  WallTime issued{};
  WallTime expires{};

  // Not yet due for another one: four fifths of its time, and a day, have not passed. The server
  // rejects tokens of the future, which is where one is when the clock was set back.
  bool lasts(WallTime now) const {
    const Duration life = expires - issued;
    return now + std::chrono::seconds(30) >= issued && now < issued + life / 5 * 4 &&
           now < issued + std::chrono::hours(24);
  }
};

// The tokens of the pods of a node. Pure.
class TokenCache {
 public:
  // Valid until the next change.
  const IssuedToken* find(const std::string& uid, const TokenNeed& need) const {
    const auto found = tokens_.find({uid, need});
    return found == tokens_.end() ? nullptr : &found->second;
  }
  void put(const std::string& uid, const TokenNeed& need, IssuedToken token) {
    tokens_.insert_or_assign({uid, need}, std::move(token));
  }
  void forget(const std::string& uid) {
    std::erase_if(tokens_, [&](const auto& entry) { return entry.first.first == uid; });
  }

 private:
  std::map<std::pair<std::string, TokenNeed>, IssuedToken> tokens_;
};

}  // namespace codeflare::node
