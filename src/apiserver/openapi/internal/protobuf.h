#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::apiserver::openapi {

inline void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// A field with a length: text or a message.
inline void append_field(std::string& out, std::uint32_t number, std::string_view bytes) {
  append_varint(out, (std::uint64_t{number} << 3) | 2);
  append_varint(out, bytes.size());
  out.append(bytes);
}

inline std::string wrapped(std::uint32_t number, std::string_view bytes) {
  std::string out;
  append_field(out, number, bytes);
  return out;
}

// gnostic's NamedAny whose value is YAML text.
inline std::string extension(std::string_view name, std::string_view yaml) {
  std::string named;
  append_field(named, 1, name);
  append_field(named, 2, wrapped(2, yaml));
  return named;
}

}  // namespace codeflare::apiserver::openapi
