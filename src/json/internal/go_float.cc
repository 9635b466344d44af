#include "json/internal/go_float.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace codeflare::json::internal {

namespace {

// value = d.ddd * 10^exponent, with the shortest digits.
struct Digits {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

template <typename Float>
Digits shortest_digits(Float value) {
  std::array<char, 64> buffer;
  auto written = std::to_chars(buffer.begin(), buffer.end(), value, std::chars_format::scientific);
  std::string_view text(buffer.begin(), written.ptr);
  Digits result;
  result.negative = text.starts_with('-');
  std::size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') {
      result.digits += c;
    }
  }
  std::string_view exponent = text.substr(e + 1);
  exponent.remove_prefix(exponent.starts_with('+') ? 1 : 0);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), result.exponent);
  return result;
}

std::string with_exponent(const Digits& d, std::size_t exponent_digits_min) {
  std::string out = d.negative ? "-" : "";
  out += d.digits[0];
  if (d.digits.size() > 1) {
    out += '.';
    out.append(d.digits, 1);
  }
  std::string exponent = std::to_string(std::abs(d.exponent));
  out += d.exponent < 0 ? "e-" : "e+";
  if (exponent.size() < exponent_digits_min) {
    out += '0';
  }
  return out + exponent;
}

std::string without_exponent(const Digits& d) {
  std::string out = d.negative ? "-" : "";
  if (d.exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-d.exponent - 1), '0');
    return out + d.digits;
  }
  std::size_t whole = static_cast<std::size_t>(d.exponent) + 1;
  if (d.digits.size() <= whole) {
    out += d.digits;
    out.append(whole - d.digits.size(), '0');
    return out;
  }
  out.append(d.digits, 0, whole);
  out += '.';
  out.append(d.digits, whole);
  return out;
}

template <typename Float>
std::string general(Float value) {
  if (std::isnan(value)) {
    return ".nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-.inf" : ".inf";
  }
  Digits d = shortest_digits(value);
  // For the shortest form Go decides as if six digits had been asked for.
  if (d.exponent < -4 || d.exponent >= 6) {
    return with_exponent(d, 2);
  }
  return without_exponent(d);
}

}  // namespace

std::string go_json_number(double value) {
  Digits d = shortest_digits(value);
  double size = std::abs(value);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) {
    return with_exponent(d, 1);
  }
  return without_exponent(d);
}

std::string go_general_number(double value) {
  return general(value);
}

std::string go_general_number(float value) {
  return general(value);
}

}  // namespace codeflare::json::internal
