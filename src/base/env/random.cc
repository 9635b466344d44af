#include "base/env/random.h"

#include "base/check.h"

#include <string_view>

namespace codeflare {

std::uint64_t Random::below(std::uint64_t bound) {
  CHECK(bound > 0);
  // Values in the incomplete last round would favour small results.
  const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  std::uint64_t value = next();
  while (value >= limit) {
    value = next();
  }
  return value % bound;
}

double Random::fraction() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::string Random::uuid() {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  std::uint64_t bits = 0;
  int left = 0;
  for (char& c : text) {
    if (c == '-' || c == '4') {
      continue;
    }
    if (left == 0) {
      bits = next();
      left = 16;
    }
    std::uint64_t digit = bits & 15;
    if (c == 'y') {
      digit = 8 + (digit & 3);
    }
    c = kHex[digit];
    bits >>= 4;
    --left;
  }
  return text;
}

std::string Random::name_suffix(std::size_t length) {
  // No vowels and no look-alikes, so that no words appear.
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text(length, ' ');
  for (char& c : text) {
    c = kAlphabet[below(kAlphabet.size())];
  }
  return text;
}

}  // namespace codeflare
