#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace codeflare::json::internal {

// Standard base64 with padding; line breaks are skipped. Nothing when it is malformed.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace codeflare::json::internal
