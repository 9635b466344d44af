#include "ray/zip_writer.h"

#include "base/check.h"

#include <optional>
#include <utility>
#include <zlib.h>

namespace codeflare::ray {

namespace {

constexpr std::uint32_t kLocalHead = 0x04034b50;
constexpr std::uint32_t kCentralHead = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::uint16_t kVersionNeeded = 20;                    // 2.0: deflate and directories
constexpr std::uint16_t kVersionNeeded64 = 45;                  // 4.5: more than 65,535 entries
constexpr std::uint16_t kMadeByUnix = 3 << 8 | kVersionNeeded;  // attributes hold a file mode
constexpr std::uint16_t kNameIsUtf8 = 1 << 11;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kMidnight = 0;
constexpr std::uint16_t kFirstOfJanuary1980 = 1 << 5 | 1;
constexpr std::uint32_t kRegularFile = 0100000;
constexpr std::uint32_t kDirectory = 0040000;
constexpr std::uint32_t kDosDirectory = 0x10;
constexpr std::uint64_t kCountMax = 0xffff;
constexpr std::size_t kBytesMax = 0xffffffff;

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  }
}
void put2(std::string& out, std::uint16_t value) {
  put(out, value, 2);
}
void put4(std::string& out, std::uint32_t value) {
  put(out, value, 4);
}
void put8(std::string& out, std::uint64_t value) {
  put(out, value, 8);
}

std::uint32_t size_of(std::string_view bytes) {
  CHECK(bytes.size() < kBytesMax, "a zip entry of 4 GiB or more");
  return static_cast<std::uint32_t>(bytes.size());
}

// Nothing when it would not get smaller.
std::optional<std::string> deflated(std::string_view content) {
  z_stream stream{};
  // A negative window is deflate without a head of its own. Speed counts: the bytes go a short way.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  std::string out(content.size(), '\0');
  // zlib's interface is not const; it does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END || out.size() >= content.size()) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

// The common part of both heads of an entry.
void ZipWriter::add(const Entry& entry, std::string_view packed) {
  std::string common;
  put2(common, kVersionNeeded);
  put2(common, kNameIsUtf8);
  put2(common, entry.deflated ? kDeflated : 0);
  put2(common, kMidnight);
  put2(common, kFirstOfJanuary1980);
  put4(common, entry.checksum);
  put4(common, entry.packed_size);
  put4(common, entry.size);
  CHECK(entry.name.size() <= 0xffff, "a name of more than 65,535 bytes");
  put2(common, static_cast<std::uint16_t>(entry.name.size()));
  put2(common, 0);  // no extra field

  put4(directory_, kCentralHead);
  put2(directory_, kMadeByUnix);
  directory_ += common;
  put2(directory_, 0);  // no comment
  put2(directory_, 0);  // first disk
  put2(directory_, 0);  // no attributes of the content
  put4(directory_, entry.attributes);
  put4(directory_, size_of(bytes_));  // where the entry begins
  directory_ += entry.name;

  put4(bytes_, kLocalHead);
  bytes_.append(common).append(entry.name).append(packed);
  ++count_;
}

void ZipWriter::add_file(std::string_view name, std::string_view content, std::uint32_t mode) {
  Entry entry{.name = std::string(name),
              .attributes = (kRegularFile | mode) << 16,
              .size = size_of(content)};
  entry.checksum = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), entry.size));
  const std::optional<std::string> packed = deflated(content);
  entry.deflated = packed.has_value();
  const std::string_view stored = packed ? std::string_view(*packed) : content;
  entry.packed_size = size_of(stored);
  add(entry, stored);
}

void ZipWriter::add_directory(std::string_view name, std::uint32_t mode) {
  add({.name = std::string(name) + "/", .attributes = (kDirectory | mode) << 16 | kDosDirectory},
      {});
}

std::string ZipWriter::finish() && {
  const std::uint64_t start = size_of(bytes_);
  const bool many = count_ > kCountMax;
  std::string out = std::move(bytes_);
  out += directory_;
  if (many) {
    const std::uint64_t end64 = out.size();
    put4(out, kEnd64);
    put8(out, 44);  // of what follows
    put2(out, kMadeByUnix);
    put2(out, kVersionNeeded64);
    put4(out, 0);  // this disk
    put4(out, 0);  // the directory's disk
    put8(out, count_);
    put8(out, count_);
    put8(out, directory_.size());
    put8(out, start);
    put4(out, kEnd64Locator);
    put4(out, 0);
    put8(out, end64);
    put4(out, 1);  // disks
  }
  const auto count = static_cast<std::uint16_t>(many ? kCountMax : count_);
  put4(out, kEnd);
  put2(out, 0);
  put2(out, 0);
  put2(out, count);
  put2(out, count);
  put4(out, size_of(directory_));
  put4(out, static_cast<std::uint32_t>(start));
  put2(out, 0);
  return out;
}

}  // namespace codeflare::ray
