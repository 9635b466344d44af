#include "ray/internal/size_text.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace codeflare::ray::internal {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 3> kUnits = {"KiB", "MiB", "GiB"};
  if (bytes < 1024) {
    return std::to_string(bytes) + " B";
  }
  double size = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  const int count = std::snprintf(text.data(), text.size(), "%.1f ", size);
  return std::string(text.data(), static_cast<std::size_t>(count)) + std::string(kUnits[unit]);
}

}  // namespace codeflare::ray::internal
