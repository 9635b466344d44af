#include "controllers/appwrapper/write_pace.h"

#include <algorithm>

namespace codeflare::controllers {

namespace {

constexpr Duration kSlow = std::chrono::milliseconds(25);
constexpr int kSlowRatio = 4;
// Older write times say nothing about now.
constexpr Duration kCounts = std::chrono::seconds(2);

}  // namespace

void WritePace::add(Duration took, Instant now) {
  usual_ += (took - usual_) / 8;
  // Forgets by and by: a server that has moved away is not slow for good.
  fastest_ = std::min(took, fastest_ + (took - fastest_) / 65536);
  last_ = now;
}

bool WritePace::is_slow(Instant now) const {
  return usual_ > std::max(kSlow, kSlowRatio * fastest_) && now - last_ < kCounts;
}

}  // namespace codeflare::controllers
