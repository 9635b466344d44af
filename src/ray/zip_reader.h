#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::ray {

// One file or directory of a zip, checked: its name is a relative path that stays where it is.
struct ZipEntry {
  std::string name{};  // "d/main.py"; of a directory without the slash at its end
  bool directory = false;
  std::uint32_t mode = 0644;  // permission bits
  std::string content{};
};

struct ZipLimits {
  std::size_t entries_max = 0xffff;
  std::uint64_t bytes_max = std::uint64_t{64} << 20;  // of all contents together
};

// Reads a zip as ZipWriter and common tools write it (stored or deflated, no encryption, no zip64).
// invalid_argument: it is none, or damaged; also names that are absolute, contain "..", or occur
// twice, and entries that are neither file nor directory. too_large: beyond the limits.
Result<std::vector<ZipEntry>> read_zip(std::string_view bytes, const ZipLimits& limits);

// Whether a path of an archive stays below the directory where the archive is unpacked.
bool is_safe_path(std::string_view path);

}  // namespace codeflare::ray
