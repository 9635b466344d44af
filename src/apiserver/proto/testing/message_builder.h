#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Writes protobuf by hand, for tests:
//   envelope("v1", "ConfigMap", Message().message(1, Message().text(1, "name")))
class Message {
 public:
  Message& integer(unsigned number, std::uint64_t value) { return tag(number, 0).varint(value); }
  Message& text(unsigned number, std::string_view value) {
    tag(number, 2).varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(unsigned number, const Message& value) { return text(number, value.bytes_); }
  Message& entry(unsigned number, std::string_view key, std::string_view value) {
    return message(number, Message().text(1, key).text(2, value));
  }
  Message& fixed64(unsigned number, std::uint64_t value) {
    tag(number, 1);
    for (unsigned i = 0; i < 8; ++i) {
      bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    }
    return *this;
  }
  // A field's key alone; type 3 begins and 4 ends a group.
  Message& tag(unsigned number, unsigned type) { return varint(number << 3 | type); }
  Message& varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    }
    bytes_ += static_cast<char>(value);
    return *this;
  }
  Message& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string envelope(std::string_view api_version, std::string_view kind,
                            const Message& object) {
  return std::string("k8s\0", 4) + Message()
                                       .message(1, Message().text(1, api_version).text(2, kind))
                                       .message(2, object)
                                       .text(3, "")
                                       .text(4, "")
                                       .bytes();
}

}  // namespace codeflare::apiserver
