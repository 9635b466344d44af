#include "ray/testing/zip_reader.h"

#include "base/check.h"

#include <zlib.h>

namespace codeflare::ray::testing {

namespace {

constexpr std::size_t kEndSize = 22;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kLocalSize = 30;

std::uint32_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  CHECK(at + size <= bytes.size());
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}

std::string inflated(std::string_view packed, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size);
  inflateEnd(&stream);
  return out;
}

}  // namespace

std::vector<ZipEntry> read_zip(std::string_view bytes) {
  CHECK(bytes.size() >= kEndSize);
  const std::size_t end = bytes.size() - kEndSize;
  CHECK(number(bytes, end, 4) == 0x06054b50);
  const std::size_t count = number(bytes, end + 10, 2);
  std::size_t at = number(bytes, end + 16, 4);
  std::vector<ZipEntry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(number(bytes, at, 4) == 0x02014b50);
    const bool deflated = number(bytes, at + 10, 2) == 8;
    const std::uint32_t checksum = number(bytes, at + 16, 4);
    const std::size_t packed_size = number(bytes, at + 20, 4);
    const std::size_t size = number(bytes, at + 24, 4);
    const std::size_t name_size = number(bytes, at + 28, 2);
    const std::size_t local = number(bytes, at + 42, 4);
    CHECK(number(bytes, local, 4) == 0x04034b50);
    // All but where they differ.
    CHECK(bytes.substr(local + 4, 26) == bytes.substr(at + 6, 26));
    ZipEntry entry{.name = std::string(bytes.substr(at + kCentralSize, name_size)),
                   .mode = number(bytes, at + 38, 4) >> 16};
    const std::string_view packed = bytes.substr(local + kLocalSize + name_size, packed_size);
    entry.content = deflated ? inflated(packed, size) : std::string(packed);
    CHECK(crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                static_cast<uInt>(entry.content.size())) == checksum);
    entries.push_back(std::move(entry));
    at += kCentralSize + name_size;
  }
  return entries;
}

}  // namespace codeflare::ray::testing
