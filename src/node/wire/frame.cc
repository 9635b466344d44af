#include "node/wire/frame.h"

#include <utility>

namespace codeflare::node {

namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

std::string frame(std::string_view text) {
  std::string out;
  out.reserve(kLengthBytes + text.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    out.push_back(static_cast<char>((text.size() >> (8 * i)) & 0xff));
  }
  out.append(text);
  return out;
}

Result<std::optional<std::string>> FrameReader::next() {
  if (pending_.size() < kLengthBytes) {
    return std::nullopt;
  }
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(pending_[i])} << (8 * i);
  }
  if (length > kFrameBytesMax) {
    return fail(too_large("a frame of " + std::to_string(length) + " bytes"));
  }
  if (pending_.size() < kLengthBytes + length) {
    return std::nullopt;
  }
  std::string text = pending_.substr(kLengthBytes, length);
  pending_.erase(0, kLengthBytes + length);
  return std::optional(std::move(text));
}

}  // namespace codeflare::node
