#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::checkpoint {

// CRC-32C (Castagnoli) of `bytes` that follow bytes whose checksum is `crc`; 0 at the beginning.
std::uint32_t crc32c(std::uint32_t crc, std::string_view bytes);

// Checksum of two pieces in a row, from their checksums and the size of the second one.
std::uint32_t crc32c_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_size);

// "a1b2c3d4"
std::string checksum_text(std::uint32_t checksum);
// Exactly eight hexadecimal digits.
Result<std::uint32_t> parse_checksum(std::string_view text);

}  // namespace codeflare::checkpoint
