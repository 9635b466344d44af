#pragma once

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// Text of a file that may be damaged, for messages: whatever is not printable ASCII, and the
// backslash, is escaped, so that it neither drives a terminal nor forges a line nor ends one.
std::string printable(std::string_view text);

}  // namespace codeflare::apiserver
