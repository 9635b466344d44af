#pragma once

#include <cstdint>
#include <string>

namespace codeflare::ray::internal {

// "512 B", "1.5 KiB", "120.0 MiB", "2.0 GiB": one digit is enough to compare.
std::string size_text(std::uint64_t bytes);

}  // namespace codeflare::ray::internal
