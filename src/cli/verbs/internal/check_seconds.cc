#include "cli/verbs/internal/check_seconds.h"

#include <charconv>
#include <system_error>

namespace codeflare::cli {

std::string check_seconds(const std::string& text) {
  constexpr double kMost = 1e9;
  double seconds = -1;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, seconds);
  // NaN is neither below nor above anything.
  const bool good = error == std::errc() && end == last && seconds >= 0 && seconds <= kMost;
  return good ? "" : "expected seconds from 0 to 1000000000, got \"" + text + "\"";
}

}  // namespace codeflare::cli
