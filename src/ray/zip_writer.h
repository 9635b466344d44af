#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace codeflare::ray {

// Writes a zip file into memory. The same entries give the same bytes: times are those of 1980, as
// a zip without them has. Entries and the whole stay below 4 GiB (checked).
//   ZipWriter zip;
//   zip.add_file("main.py", content, 0644);
//   std::string bytes = std::move(zip).finish();
class ZipWriter {
 public:
  // Names are relative paths in UTF-8. Deflated, unless that saves nothing.
  void add_file(std::string_view name, std::string_view content, std::uint32_t mode);
  void add_directory(std::string_view name, std::uint32_t mode);
  std::string finish() &&;

 private:
  struct Entry {
    std::string name;
    std::uint32_t attributes = 0;
    std::uint32_t checksum = 0;
    std::uint32_t size = 0;         // of the content
    std::uint32_t packed_size = 0;  // as it is stored
    bool deflated = false;
  };
  void add(const Entry& entry, std::string_view packed);

  std::string bytes_;      // the entries
  std::string directory_;  // the central directory, which follows them
  std::uint64_t count_ = 0;
};

}  // namespace codeflare::ray
