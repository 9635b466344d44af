#pragma once

#include <string_view>
#include <vector>

namespace codeflare {

// The parts between separators, empty ones too: one part more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace codeflare
