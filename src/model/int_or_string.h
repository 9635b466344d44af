#pragma once

#include <cstdint>
#include <string>

namespace codeflare::model {

// A port by number or name, a count or a percentage: 80, "http", "25%".
struct IntOrString {
  std::int32_t number = 0;
  std::string text;
  bool is_text = false;

  static IntOrString of(std::int32_t value) { return {value, {}, false}; }
  static IntOrString of(std::string value) { return {0, std::move(value), true}; }
  friend bool operator==(const IntOrString&, const IntOrString&) = default;
};

}  // namespace codeflare::model
