#include "json/testing/random_value.h"

#include <array>
#include <cmath>
#include <string_view>

namespace codeflare::json::testing {

namespace {

constexpr std::array<std::string_view, 84> kPieces = {
    "a",
    "B",
    "word",
    "two words",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "?",
    "? ",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "|",
    ">",
    "&",
    "*",
    "!",
    "%",
    "@",
    "`",
    "=",
    "<<",
    "~",
    "null",
    "yes",
    "n",
    "true",
    "off",
    "0",
    "1",
    "-1",
    "0x1f",
    "017",
    "1_0",
    "1e3",
    ".5",
    "1.",
    ".inf",
    ".nan",
    "1:30",
    "2001-1-1",
    "---",
    "...",
    "--- a",
    "\r",
    "\r\n",
    "/",
    "\x01",
    "\x7f",
    "\xc3\xa4",
    "\xc2\x85",
    "\xc2\xa0",
    "\xe2\x80\xa8",
    "\xe2\x80\xa9",
    "\xef\xbb\xbf",
    "\xef\xbf\xbd",
    "\xf0\x9f\x98\x80",
    "\xed\x9f\xbf",
    "\xef\xbf\xbe",
    "long-text-without-any-space-in-it-that-goes-beyond-the-eightieth-column-of-the-page",
    "long text with many spaces in it that has to be folded somewhere before the margin",
    "http://a.b:80/c",
    "k8s.io/x",
    "100m",
    "1Gi",
    "+",
    ".",
    "_",
    "0b-1",
    "0o7",
    "e"};

}  // namespace

// SplitMix64: small, and the same on every machine.
std::uint64_t RandomValues::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::string RandomValues::text() {
  std::string out;
  for (std::uint64_t i = below(5); i > 0; --i) {
    out += kPieces[below(kPieces.size())];
  }
  return out;
}

Value RandomValues::number(Arena& arena) {
  switch (below(4)) {
    case 0:
      return Value::integer(arena, static_cast<std::int64_t>(below(20)) - 10);
    case 1:
      return Value::integer(arena, static_cast<std::int64_t>(next()));
    case 2:
      return Value::real(arena, static_cast<double>(below(1'000'000)) / 1'000);
    default: {
      int exponent = static_cast<int>(below(600)) - 300;
      return Value::real(arena, static_cast<double>(next() >> 11) * std::pow(10.0, exponent - 16));
    }
  }
}

Value RandomValues::value(Arena& arena, int depth_left) {
  std::uint64_t choice = below(depth_left > 0 ? 10 : 6);
  if (choice < 3) {
    return Value::string(arena, text());
  }
  if (choice < 4) {
    return number(arena);
  }
  if (choice < 6) {
    return choice == 4 ? Value() : Value::boolean(below(2) == 1);
  }
  bool is_object = choice < 8;
  Value result = is_object ? Value::object() : Value::array();
  for (std::uint64_t i = below(5); i > 0; --i) {
    Value child = value(arena, depth_left - 1);
    if (is_object) {
      result.set(arena, text(), child);
    } else {
      result.push_back(arena, child);
    }
  }
  return result;
}

}  // namespace codeflare::json::testing
