#pragma once

#include <span>
#include <string_view>

namespace codeflare::elastic {

struct LibraryFile {
  std::string_view name;  // below python/codeflare_elastic
  std::string_view text;
};

// The Python library of elastic training, as it was when the program was built.
std::span<const LibraryFile> library_files();

}  // namespace codeflare::elastic
