#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace codeflare::apiserver::internal {

// The URL alphabet without padding (RFC 4648 section 5), as in JWTs.
std::string to_base64url(std::string_view bytes);
// Anything else, padding and stray bits included, is invalid_argument; the message shows nothing.
Result<std::string> from_base64url(std::string_view text);

}  // namespace codeflare::apiserver::internal
