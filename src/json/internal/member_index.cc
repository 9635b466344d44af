#include "json/internal/member_index.h"

#include <algorithm>

namespace codeflare::json::internal {

namespace {

constexpr std::size_t kLinearSearchMax = 32;

std::string_view key_of(const Member* member) {
  return member->key;
}

}  // namespace

MemberIndex::MemberIndex(std::span<const Member> members) : members_(members) {
  if (members.size() <= kLinearSearchMax) {
    return;
  }
  sorted_.reserve(members.size());
  for (const Member& member : members) {
    sorted_.push_back(&member);
  }
  std::ranges::sort(sorted_, {}, key_of);
}

const Value* MemberIndex::find(std::string_view key) const {
  if (sorted_.empty()) {
    auto found = std::ranges::find(members_, key, &Member::key);
    return found == members_.end() ? nullptr : &found->value;
  }
  auto found = std::ranges::lower_bound(sorted_, key, {}, key_of);
  return found == sorted_.end() || (*found)->key != key ? nullptr : &(*found)->value;
}

}  // namespace codeflare::json::internal
