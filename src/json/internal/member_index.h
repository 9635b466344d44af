#pragma once

#include "json/value.h"

#include <span>
#include <string_view>
#include <vector>

namespace codeflare::json::internal {

// Members by name: a linear search while the object is small, sorted once when it is large, so
// that comparing two objects never takes quadratic time.
class MemberIndex {
 public:
  explicit MemberIndex(std::span<const Member> members);

  const Value* find(std::string_view key) const;

 private:
  std::span<const Member> members_;
  std::vector<const Member*> sorted_;  // empty for small objects
};

}  // namespace codeflare::json::internal
