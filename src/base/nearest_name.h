#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace codeflare {

// The name that differs from `wanted` by the fewest inserted, removed or replaced characters, if
// those are at most a third of it.
std::optional<std::string_view> nearest_name(std::string_view wanted,
                                             std::span<const std::string_view> known);

}  // namespace codeflare
