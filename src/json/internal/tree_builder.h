#pragma once

#include "json/value.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::json::internal {

// Gives out room of its own before it asks for more.
template <std::size_t bytes_max>
class FirstRoom final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!taken_ && bytes <= bytes_max) {
      taken_ = true;
      return room_.data();
    }
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    if (memory == room_.data()) {
      taken_ = false;
    } else {
      std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  bool taken_ = false;
  alignas(std::max_align_t) std::array<std::byte, bytes_max> room_;
};

// Turns a stream of parse events into values: children wait on one stack until their container
// ends, then move into the arena at exactly the size they need. Texts handed in must already
// live as long as the arena.
class TreeBuilder {
 public:
  TreeBuilder(Arena& arena, std::vector<std::string>* duplicate_keys)
      : arena_(arena), duplicate_keys_(duplicate_keys) {
    stack_.reserve(kStackFirst);
    frames_.reserve(16);
  }
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

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

  // More than Kubernetes objects need: their texts are parsed all the time, and what a stack would
  // take from the system each time is the size that allocators are slow with.
  static constexpr std::size_t kStackFirst = 128;

  Arena& arena_;
  std::vector<std::string>* duplicate_keys_;
  FirstRoom<kStackFirst * sizeof(Member)> room_;
  std::pmr::vector<Member> stack_{&room_};
  std::vector<Frame> frames_;
  Value root_;
};

}  // namespace codeflare::json::internal
