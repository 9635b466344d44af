#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray::testing {

struct ZipEntry {
  std::string name;
  std::string content;
  std::uint32_t mode = 0;
};

// Entries in the order of the central directory; CHECKs that the file is what ZipWriter writes. For
// tests.
std::vector<ZipEntry> read_zip(std::string_view bytes);

}  // namespace codeflare::ray::testing
