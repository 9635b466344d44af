#include "base/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace codeflare {

namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known) {
  constexpr std::size_t kWantedMax = 64;  // a longer text is not a misspelt name
  std::size_t least = wanted.size() / 3 + 1;
  std::optional<std::string_view> found;
  for (const std::string_view name : known) {
    if (wanted.size() > kWantedMax) {
      break;
    }
    if (const std::size_t d = distance(wanted, name); d < least) {
      least = d;
      found = name;
    }
  }
  return found;
}

}  // namespace codeflare
