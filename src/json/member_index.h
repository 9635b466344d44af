#pragma once

#include "json/value.h"

#include <span>
#include <string_view>
#include <vector>

namespace codeflare::json {

// Members of one object by name, however many there are. The member after the last one found is
// tried first, as two versions of an object usually have the same order; then small objects are
// searched and large ones sorted once. Not hashed: clients choose the names.
class MemberIndex {
 public:
  explicit MemberIndex(std::span<const Member> members) : members_(members) {}

  // Null: there is none.
  const Value* find(std::string_view key);

 private:
  const Value* found(const Member& member);

  std::span<const Member> members_;
  std::size_t next_ = 0;
  std::vector<const Member*> sorted_;  // empty until a large object needs it
};

}  // namespace codeflare::json
