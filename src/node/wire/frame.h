#pragma once

#include "base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// How texts follow one another on the connections between agent, keepers and holder.
namespace codeflare::node {

inline constexpr std::size_t kFrameBytesMax = 4u << 20;

// The text with its length before it.
std::string frame(std::string_view text);

// Takes frames out of bytes as they come.
class FrameReader {
 public:
  void add(std::string_view bytes) { pending_.append(bytes); }
  // Nothing when the next one is not complete; an error when its length is absurd, and for good.
  Result<std::optional<std::string>> next();

 private:
  std::string pending_;
};

}  // namespace codeflare::node
