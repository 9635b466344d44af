#pragma once

#include "base/time.h"

#include <chrono>

namespace codeflare::controllers {

// How fast a server answers writes. One with time to spare does so within a few milliseconds, and
// one that is far away almost as fast as it ever did. From one that does not, every write that can
// wait takes time which others are waiting for.
class WritePace {
 public:
  void add(Duration took, Instant now);
  bool is_slow(Instant now) const;

 private:
  Duration usual_{};                          // what writes took lately
  Duration fastest_ = std::chrono::hours(1);  // any of them
  Instant last_{};
};

}  // namespace codeflare::controllers
