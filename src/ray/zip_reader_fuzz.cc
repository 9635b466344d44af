#include "base/check.h"
#include "ray/zip_reader.h"
#include "ray/zip_writer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace codeflare::ray;

// Any bytes: what is accepted stays within the limits and below its directory, and survives being
// written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const ZipLimits limits{.entries_max = 64, .bytes_max = 1u << 16};
  const auto entries = read_zip(input, limits);
  if (!entries) {
    return 0;
  }
  CHECK(entries->size() <= limits.entries_max);
  std::uint64_t total = 0;
  ZipWriter writer;
  for (const ZipEntry& entry : *entries) {
    CHECK(is_safe_path(entry.name));
    total += entry.content.size();
    if (entry.directory) {
      writer.add_directory(entry.name, entry.mode);
    } else {
      writer.add_file(entry.name, entry.content, entry.mode);
    }
  }
  CHECK(total <= limits.bytes_max);
  const std::string written = std::move(writer).finish();
  const auto again = read_zip(written, limits);
  CHECK(again.has_value());
  CHECK(again->size() == entries->size());
  for (std::size_t i = 0; i < entries->size(); ++i) {
    CHECK((*again)[i].name == (*entries)[i].name && (*again)[i].content == (*entries)[i].content);
  }
  return 0;
}
