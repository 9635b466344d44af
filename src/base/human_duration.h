#pragma once

#include "base/time.h"

#include <string>

namespace codeflare {

// A time span with two or three digits of precision, as kubectl's users know it: 45s, 5m30s, 3h7m,
// 2d3h, 3y12d. Up to two seconds of clock skew count as none, more is "<invalid>".
std::string human_duration(Duration duration);

}  // namespace codeflare
