#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare {

// Immutable bytes with shared ownership: a view plus what keeps it alive. Copies and slices share
// the memory, so a body can go from a store to many connections without being copied.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), view_(view) {}

  static Bytes from(std::string text) {
    auto owned = std::make_shared<const std::string>(std::move(text));
    std::string_view view = *owned;
    return {std::move(owned), view};
  }
  // For literals and other memory that lives as long as the process.
  static Bytes from_static(std::string_view text) { return {nullptr, text}; }

  Bytes slice(std::size_t offset, std::size_t length = std::string_view::npos) const {
    return {owner_, view_.substr(offset, length)};
  }

  std::string_view view() const { return view_; }
  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

}  // namespace codeflare
