#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string_view>

namespace codeflare::controllers::fakenode {

// "1h30m", "1.5s", "250ms", "0", as Go's time.ParseDuration reads it; never negative here.
Result<Duration> parse_go_duration(std::string_view text);

}  // namespace codeflare::controllers::fakenode
