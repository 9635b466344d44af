#include "apiserver/proto/internal/wire_reader.h"

#include <array>

namespace codeflare::apiserver::internal {

namespace {

constexpr std::uint64_t kNumberMax = (1U << 29) - 1;
// Nobody uses groups any more; what nests deeper than this is not sent in good faith.
constexpr std::size_t kGroupDepthMax = 16;

}  // namespace

bool WireReader::fail(std::string_view problem) {
  if (problem_.empty()) {
    problem_ = problem;
  }
  rest_ = {};
  return false;
}

bool WireReader::next(Tag& tag) {
  if (rest_.empty()) {
    return false;
  }
  std::uint64_t key = 0;
  if (!varint(key)) {
    return false;
  }
  if (key >> 3 == 0 || key >> 3 > kNumberMax) {
    return fail("illegal field number");
  }
  if ((key & 7) > 5) {
    return fail("illegal wire type");
  }
  tag = {static_cast<std::uint32_t>(key >> 3), static_cast<WireType>(key & 7)};
  return true;
}

bool WireReader::varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) {
      return fail("unexpected end");
    }
    auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      return true;
    }
  }
  return fail("integer of more than 10 bytes");
}

bool WireReader::fixed(std::uint64_t& value, std::size_t size) {
  if (rest_.size() < size) {
    return fail("unexpected end");
  }
  value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::bytes(std::string_view& value) {
  std::uint64_t size = 0;
  if (!varint(size)) {
    return false;
  }
  if (size > rest_.size()) {
    return fail("length beyond the end");
  }
  value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::skip(Tag tag) {
  std::uint64_t number = 0;
  std::string_view text;
  switch (tag.type) {
    case WireType::varint:
      return varint(number);
    case WireType::fixed64:
      return fixed64(number);
    case WireType::fixed32:
      return fixed32(number);
    case WireType::length:
      return bytes(text);
    case WireType::group_begin:
      return skip_group(tag.number);
    case WireType::group_end:
      break;
  }
  return fail("end of a group that did not begin");
}

bool WireReader::skip_group(std::uint32_t number) {
  std::array<std::uint32_t, kGroupDepthMax> open{number};
  std::size_t depth = 1;
  while (depth > 0) {
    Tag tag;
    if (!next(tag)) {
      return fail("unexpected end");
    }
    if (tag.type == WireType::group_begin) {
      if (depth == kGroupDepthMax) {
        return fail("groups are nested too deeply");
      }
      open[depth++] = tag.number;
    } else if (tag.type == WireType::group_end) {
      if (open[--depth] != tag.number) {
        return fail("end of another group");
      }
    } else if (!skip(tag)) {
      return false;
    }
  }
  return true;
}

}  // namespace codeflare::apiserver::internal
