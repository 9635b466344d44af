#pragma once

#include <cstdint>
#include <string_view>

namespace codeflare::apiserver::internal {

enum class WireType : std::uint8_t {
  varint = 0,
  fixed64 = 1,
  length = 2,
  group_begin = 3,
  group_end = 4,
  fixed32 = 5,
};

struct Tag {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
};

// Reads the encoding of one protobuf message from front to back. A failed read leaves a problem
// behind and everything after it fails as well; views point into the bytes given.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // False at the end and after a problem.
  bool next(Tag& tag);
  bool varint(std::uint64_t& value);
  bool fixed64(std::uint64_t& value) { return fixed(value, 8); }
  bool fixed32(std::uint64_t& value) { return fixed(value, 4); }
  bool bytes(std::string_view& value);
  // Passes over the value that belongs to the tag, groups included.
  bool skip(Tag tag);

  bool done() const { return rest_.empty(); }
  // Empty when all is well.
  std::string_view problem() const { return problem_; }

 private:
  bool fixed(std::uint64_t& value, std::size_t size);
  bool skip_group(std::uint32_t number);
  bool fail(std::string_view problem);

  std::string_view rest_;
  std::string_view problem_{};  // a literal
};

}  // namespace codeflare::apiserver::internal
