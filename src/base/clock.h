#pragma once

#include "base/time.h"

namespace codeflare {

// The two times there are. Timers and sleeps belong to the Loop.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  virtual WallTime wall() const = 0;
};

}  // namespace codeflare
