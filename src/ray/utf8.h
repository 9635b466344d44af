#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::ray {

// The characters of well-formed UTF-8; nothing for other bytes.
std::optional<std::u32string> from_utf8(std::string_view text);

}  // namespace codeflare::ray
