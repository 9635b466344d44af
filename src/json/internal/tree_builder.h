#pragma once

#include "json/value.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json::internal {

// Turns a stream of parse events into values: children wait on one stack until their container
// ends, then move into the arena at exactly the size they need. Texts handed in must already
// live as long as the arena.
class TreeBuilder {
 public:
  TreeBuilder(Arena& arena, std::vector<std::string>* duplicate_keys)
      : arena_(arena), duplicate_keys_(duplicate_keys) {
    stack_.reserve(128);
    frames_.reserve(16);
  }

  void begin_object() { frames_.push_back({static_cast<std::uint32_t>(stack_.size()), true}); }
  void begin_array() { frames_.push_back({static_cast<std::uint32_t>(stack_.size()), false}); }
  void key(std::string_view text) { stack_.push_back({text, Value()}); }

  void value(Value value) {
    if (frames_.empty()) {
      root_ = value;
    } else if (frames_.back().is_object) {
      stack_.back().value = value;
    } else {
      stack_.push_back({{}, value});
    }
  }
  void end_object();
  void end_array();

  std::size_t depth() const { return frames_.size(); }
  Value root() const { return root_; }

  // The path of the container being filled, then `key`: "spec.containers[0].name".
  std::string path_of(std::string_view key) const;

 private:
  struct Frame {
    std::uint32_t start;  // of its children on the stack
    bool is_object;
  };

  void resolve_duplicates(std::size_t start);
  void resolve_duplicates_sorted(std::size_t start);
  void report(std::string_view key);

  Arena& arena_;
  std::vector<std::string>* duplicate_keys_;
  std::vector<Member> stack_;
  std::vector<Frame> frames_;
  Value root_;
};

}  // namespace codeflare::json::internal
