#pragma once

#include <string>

namespace codeflare::cli {

// Empty when the text is a number of seconds that people wait and clocks can hold, else what is
// wrong: a check of CLI11, whose own ones let NaN pass and tell the largest number in 309 digits.
std::string check_seconds(const std::string& text);

}  // namespace codeflare::cli
