#pragma once

#include "apiserver/identity/rbac_rule.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace codeflare::apiserver::internal {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

// The keys under which rules for one access can stand, made once for all roles that are asked.
class AccessKeys {
 public:
  explicit AccessKeys(const Access& access);
  const Access& access() const { return access_; }
  std::size_t size() const { return size_; }
  std::string_view operator[](std::size_t at) const { return keys_[at]; }

 private:
  const Access& access_;
  std::array<std::string, 6> keys_;
  std::size_t size_ = 0;
};

// The rules of one role, found by group and resource.
class RuleIndex {
 public:
  RuleIndex() = default;
  explicit RuleIndex(PolicyRules rules);

  const PolicyRules& rules() const { return rules_; }
  bool allows(const AccessKeys& keys) const;

 private:
  PolicyRules rules_;
  TextMap<std::vector<std::uint32_t>> by_resource_;  // indexes into rules_
  std::vector<std::uint32_t> with_paths_;
};

}  // namespace codeflare::apiserver::internal
