#include "json/member_index.h"

#include <algorithm>

namespace codeflare::json {

namespace {

constexpr std::size_t kLinearSearchMax = 32;

std::string_view key_of(const Member* member) {
  return member->key;
}

}  // namespace

const Value* MemberIndex::found(const Member& member) {
  next_ = static_cast<std::size_t>(&member - members_.data()) + 1;
  return &member.value;
}

const Value* MemberIndex::find(std::string_view key) {
  if (next_ < members_.size() && members_[next_].key == key) {
    return found(members_[next_]);
  }
  if (members_.size() <= kLinearSearchMax) {
    auto at = std::ranges::find(members_, key, &Member::key);
    return at == members_.end() ? nullptr : found(*at);
  }
  if (sorted_.empty()) {
    sorted_.reserve(members_.size());
    for (const Member& member : members_) {
      sorted_.push_back(&member);
    }
    std::ranges::sort(sorted_, {}, key_of);
  }
  auto at = std::ranges::lower_bound(sorted_, key, {}, key_of);
  return at == sorted_.end() || (*at)->key != key ? nullptr : found(**at);
}

}  // namespace codeflare::json
