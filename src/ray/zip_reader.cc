#include "ray/zip_reader.h"

#include "base/split.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <zlib.h>

namespace codeflare::ray {

namespace {

constexpr std::uint32_t kLocalHead = 0x04034b50;
constexpr std::uint32_t kCentralHead = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::size_t kLocalHeadBytes = 30;
constexpr std::size_t kCentralHeadBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kCommentBytesMax = 0xffff;
constexpr std::uint16_t kEncrypted = 1;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint32_t kTypeBits = 0170000;
constexpr std::uint32_t kRegularFile = 0100000;
constexpr std::uint32_t kDirectory = 0040000;
constexpr std::uint16_t kMadeByUnix = 3;

Error damaged(std::string what) {
  return invalid_argument("zip: " + std::move(what));
}

// Reads numbers in little endian at any place; nothing beyond the end.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  bool has(std::size_t at, std::size_t count) const {
    return at <= all_.size() && count <= all_.size() - at;
  }
  // Of places that has() knows.
  std::uint16_t two(std::size_t at) const { return static_cast<std::uint16_t>(number(at, 2)); }
  std::uint32_t four(std::size_t at) const { return number(at, 4); }
  std::string_view text(std::size_t at, std::size_t count) const { return all_.substr(at, count); }
  std::size_t size() const { return all_.size(); }

 private:
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(all_[at + i])) << (8 * i);
    }
    return value;
  }

  std::string_view all_;
};

// The end record is last, before a comment of any length.
std::optional<std::size_t> find_end(const Bytes& bytes) {
  if (bytes.size() < kEndBytes) {
    return std::nullopt;
  }
  const std::size_t last = bytes.size() - kEndBytes;
  const std::size_t first = last > kCommentBytesMax ? last - kCommentBytesMax : 0;
  for (std::size_t at = last + 1; at-- > first;) {
    if (bytes.four(at) == kEnd && at + kEndBytes + bytes.two(at + 20) == bytes.size()) {
      return at;
    }
  }
  return std::nullopt;
}

Result<std::string> inflated(std::string_view packed, std::size_t size) {
  // One byte more shows content that is longer than announced.
  std::string out(size + 1, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    return fail(resource_exhausted("zip: no memory to inflate"));
  }
  // zlib's interface is not const; it does not write there.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  const std::size_t made = stream.total_out;
  inflateEnd(&stream);
  if (result != Z_STREAM_END || made != size) {
    return fail(damaged("content of the wrong length or damaged"));
  }
  out.resize(size);
  return out;
}

// A row of the central directory.
struct Row {
  std::string name;
  std::uint16_t made_by = 0;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint32_t packed_size = 0;
  std::uint32_t size = 0;
  std::uint32_t attributes = 0;
  std::uint32_t at = 0;   // of its local head
  std::size_t bytes = 0;  // of the row itself
};

Result<Row> read_row(const Bytes& bytes, std::size_t at) {
  if (!bytes.has(at, kCentralHeadBytes) || bytes.four(at) != kCentralHead) {
    return fail(damaged("its directory is cut"));
  }
  const std::size_t name = bytes.two(at + 28);
  const std::size_t length =
      kCentralHeadBytes + name + bytes.two(at + 30) + std::size_t{bytes.two(at + 32)};
  if (!bytes.has(at, length)) {
    return fail(damaged("its directory is cut"));
  }
  return Row{.name = std::string(bytes.text(at + kCentralHeadBytes, name)),
             .made_by = bytes.two(at + 4),
             .flags = bytes.two(at + 8),
             .method = bytes.two(at + 10),
             .checksum = bytes.four(at + 16),
             .packed_size = bytes.four(at + 20),
             .size = bytes.four(at + 24),
             .attributes = bytes.four(at + 38),
             .at = bytes.four(at + 42),
             .bytes = length};
}

Result<std::string> read_content(const Bytes& bytes, const Row& row) {
  if ((row.flags & kEncrypted) != 0) {
    return fail(damaged("it is encrypted"));
  }
  if (!bytes.has(row.at, kLocalHeadBytes) || bytes.four(row.at) != kLocalHead) {
    return fail(damaged("an entry has no head"));
  }
  const std::size_t begin =
      std::size_t{row.at} + kLocalHeadBytes + bytes.two(row.at + 26) + bytes.two(row.at + 28);
  if (!bytes.has(begin, row.packed_size)) {
    return fail(damaged("an entry is cut"));
  }
  const std::string_view packed = bytes.text(begin, row.packed_size);
  std::string content;
  if (row.method == kDeflated) {
    TRY_ASSIGN(content, inflated(packed, row.size));
  } else if (row.method == kStored && row.packed_size == row.size) {
    content = packed;
  } else {
    return fail(damaged("compression method " + std::to_string(row.method) + " is not supported"));
  }
  const uLong checksum =
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  if (checksum != row.checksum) {
    return fail(damaged("wrong checksum"));
  }
  return content;
}

Result<ZipEntry> read_entry(const Bytes& bytes, Row row) {
  ZipEntry entry{.directory = row.name.ends_with('/')};
  if (entry.directory) {
    row.name.pop_back();
  }
  if (!is_safe_path(row.name)) {
    return fail(damaged("'" + row.name + "' leaves the directory of the archive"));
  }
  const bool unix_mode = row.made_by >> 8 == kMadeByUnix;
  const std::uint32_t mode = unix_mode ? row.attributes >> 16 : 0;
  const std::uint32_t type = mode & kTypeBits;
  if (type != 0 && type != (entry.directory ? kDirectory : kRegularFile)) {
    return fail(damaged("'" + row.name + "' is neither a file nor a directory"));
  }
  if (type != 0) {
    entry.mode = mode & 0777;
  }
  if (!entry.directory) {
    Result<std::string> content = read_content(bytes, row);
    if (!content) {
      return fail(std::move(content).error().with_context("'" + row.name + "'"));
    }
    entry.content = *std::move(content);
  }
  entry.name = std::move(row.name);
  return entry;
}

}  // namespace

bool is_safe_path(std::string_view path) {
  return !path.contains('\0') && std::ranges::all_of(split(path, '/'), [](std::string_view name) {
    return !name.empty() && name != "." && name != "..";
  });
}

Result<std::vector<ZipEntry>> read_zip(std::string_view text, const ZipLimits& limits) {
  const Bytes bytes(text);
  const std::optional<std::size_t> end = find_end(bytes);
  if (!end) {
    return fail(damaged("no end record: not a zip, or cut"));
  }
  const std::size_t count = bytes.two(*end + 10);
  if (count > limits.entries_max) {
    return fail(too_large("zip: " + std::to_string(count) + " entries, at most " +
                          std::to_string(limits.entries_max)));
  }
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t total = 0;
  std::size_t at = bytes.four(*end + 16);
  for (std::size_t i = 0; i < count; ++i) {
    TRY_ASSIGN(Row row, read_row(bytes, at));
    at += row.bytes;
    total += row.size;
    if (total > limits.bytes_max) {
      return fail(
          too_large("zip: more than " + std::to_string(limits.bytes_max) + " bytes of contents"));
    }
    TRY_ASSIGN(ZipEntry entry, read_entry(bytes, std::move(row)));
    if (!names.insert(entry.name).second) {
      return fail(damaged("'" + entry.name + "' occurs twice"));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace codeflare::ray
