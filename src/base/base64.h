#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace codeflare {

// Standard alphabet with padding (RFC 4648 section 4).
std::string to_base64(std::string_view bytes);

// Padding is required, line breaks are skipped, anything else is invalid_argument. The message
// names the position and never the text: what is encoded is often a secret.
Result<std::string> from_base64(std::string_view text);

}  // namespace codeflare
