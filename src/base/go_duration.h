#pragma once

#include "base/time.h"

#include <optional>
#include <string_view>

namespace codeflare {

// As Go's time.ParseDuration reads it: "1h30m", "-1.5s", "0".
std::optional<Duration> go_duration(std::string_view text);

}  // namespace codeflare
