#pragma once

#include "model/gvk.h"

#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace codeflare::model {

inline std::size_t key_hash(std::string_view ns, std::string_view name) noexcept {
  constexpr std::size_t kSpread = 0x9e3779b97f4a7c15;
  const std::hash<std::string_view> hash;
  return hash(ns) * kSpread + hash(name);
}

struct KeyHash {
  std::size_t operator()(const ObjectKey& key) const noexcept { return key_hash(key.ns, key.name); }
};

// For large tables whose order means nothing.
template <typename T>
using KeyMap = std::unordered_map<ObjectKey, T, KeyHash>;
using KeySet = std::unordered_set<ObjectKey, KeyHash>;

}  // namespace codeflare::model
