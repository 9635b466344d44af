#pragma once

#include "sched/internal/matrix.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// Texts that occur often, as numbers: label keys and values of nodes.
class Names {
 public:
  Index intern(std::string_view text) {
    const auto [entry, added] =
        numbers_.try_emplace(std::string(text), static_cast<Index>(texts_.size()));
    if (added) {
      texts_.push_back(entry->first);
    }
    return entry->second;
  }
  const std::string& text(Index number) const { return texts_[number]; }

 private:
  std::unordered_map<std::string, Index> numbers_;
  std::vector<std::string> texts_;
};

// Builds keys for interning: every piece carries its length, so no two lists read the same.
class Signature {
 public:
  Signature& add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    text_.append(text);
    return *this;
  }
  Signature& add(std::uint64_t number) {
    text_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace codeflare::sched
