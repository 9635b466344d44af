#include "up/archive/tar_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace codeflare::up {

namespace {

constexpr std::size_t kBlock = 512;
// Of a long name or a pax header. Paths of Linux have at most 4096 bytes; pax headers may carry
// extended attributes.
constexpr std::uint64_t kExtendedMax = std::uint64_t{1} << 20;

using Block = std::array<char, kBlock>;

std::string_view field(const Block& block, std::size_t at, std::size_t size) {
  const std::string_view text(block.data() + at, size);
  return text.substr(0, std::min(text.find('\0'), size));
}

// Octal digits between blanks, or GNU's base 256 with the first bit set.
Result<std::uint64_t> number(const Block& block, std::size_t at, std::size_t size) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(block[at + i]); };
  std::uint64_t value = 0;
  if ((byte(0) & 0x80u) != 0) {
    if (byte(0) != 0x80u) {
      return fail(invalid_argument("tar header has a number out of range"));
    }
    for (std::size_t i = 1; i < size; ++i) {
      if (value >> 55 != 0) {
        return fail(invalid_argument("tar header has a number out of range"));
      }
      value = value << 8 | byte(i);
    }
    return value;
  }
  std::string_view text = field(block, at, size);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find(' '));
  for (const char c : text) {
    if (c < '0' || c > '7') {
      return fail(invalid_argument("tar header has a number that is none"));
    }
    value = value * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

bool is_zero(const Block& block) {
  return std::ranges::all_of(block, [](char c) { return c == 0; });
}

Result<void> check_sum(const Block& block) {
  const Result<std::uint64_t> told = number(block, 148, 8);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool in_sum = i >= 148 && i < 156;
    sum += in_sum ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return told && sum == *told
             ? Result<void>()
             : fail(invalid_argument("is not a tar file, or is damaged (checksum)"));
}

TarEntry::Type type_of(char flag) {
  switch (flag) {
    case '0':
    case '\0':
    case '7':
      return TarEntry::Type::file;
    case '1':
      return TarEntry::Type::hard_link;
    case '2':
      return TarEntry::Type::symlink;
    case '5':
      return TarEntry::Type::directory;
    default:
      return TarEntry::Type::other;
  }
}

std::uint64_t padding_of(std::uint64_t size) {
  return (kBlock - size % kBlock) % kBlock;
}

std::string path_of(const Block& block) {
  const std::string_view name = field(block, 0, 100);
  const bool ustar = std::string_view(block.data() + 257, 6) == std::string_view("ustar\0", 6);
  const std::string_view prefix = ustar ? field(block, 345, 155) : std::string_view();
  return prefix.empty() ? std::string(name) : std::string(prefix) + "/" + std::string(name);
}

}  // namespace

Result<void> TarReader::skip(std::uint64_t bytes) {
  std::array<char, 16384> buffer;
  while (bytes > 0) {
    const std::size_t count = std::min<std::uint64_t>(bytes, buffer.size());
    TRY(read_exactly(source_, std::span(buffer).first(count), "tar file"));
    bytes -= count;
    offset_ += count;
  }
  return {};
}

Result<std::string> TarReader::read_text(std::uint64_t size) {
  if (size > kExtendedMax) {
    return fail(invalid_argument("tar file has a header of " + std::to_string(size) + " bytes"));
  }
  std::string text(size, '\0');
  TRY(read_exactly(source_, text, "tar file"));
  offset_ += size;
  TRY(skip(padding_of(size)));
  return text;
}

// "23 path=a/b\n" and so on: each line begins with its own length.
Result<void> TarReader::read_extended(char type, std::uint64_t size, Extended& extended) {
  TRY_ASSIGN(std::string text, read_text(size));
  if (type == 'L' || type == 'K') {
    text.resize(std::min(text.find('\0'), text.size()));
    (type == 'L' ? extended.path : extended.link) = std::move(text);
    return {};
  }
  if (type == 'g') {
    return {};  // for the whole archive: nothing that counts here
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    std::size_t length = 0;
    std::size_t digits = 0;
    while (digits < rest.size() && digits < 8 && rest[digits] >= '0' && rest[digits] <= '9') {
      length = length * 10 + static_cast<std::size_t>(rest[digits++] - '0');
    }
    if (digits == 0 || length <= digits + 1 || length > rest.size() || rest[digits] != ' ' ||
        rest[length - 1] != '\n') {
      return fail(invalid_argument("tar file has a damaged pax header"));
    }
    const std::string_view line = rest.substr(digits + 1, length - digits - 2);
    rest.remove_prefix(length);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(invalid_argument("tar file has a damaged pax header"));
    }
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (key == "path") {
      extended.path = value;
    } else if (key == "linkpath") {
      extended.link = value;
    } else if (key == "size") {
      std::uint64_t bytes = 0;
      for (const char c : value) {
        if (c < '0' || c > '9' || bytes > (std::uint64_t{1} << 56)) {
          return fail(invalid_argument("tar file has a damaged pax header"));
        }
        bytes = bytes * 10 + static_cast<std::uint64_t>(c - '0');
      }
      extended.size = bytes;
    }
  }
  return {};
}

Result<std::optional<TarEntry>> TarReader::next() {
  TRY(skip(left_ + padding_));
  left_ = padding_ = 0;
  Extended extended;
  while (true) {
    Block block;
    // An archive may end without its two empty blocks.
    TRY_ASSIGN(const std::size_t first, source_.read(block));
    if (first == 0) {
      return std::nullopt;
    }
    TRY(read_exactly(source_, std::span(block).subspan(first), "tar file"));
    offset_ += kBlock;
    if (is_zero(block)) {
      return std::nullopt;
    }
    TRY(check_sum(block));
    TRY_ASSIGN(const std::uint64_t size, number(block, 124, 12));
    const char flag = block[156];
    if (flag == 'L' || flag == 'K' || flag == 'x' || flag == 'g') {
      TRY(read_extended(flag, size, extended));
      continue;
    }
    TRY_ASSIGN(const std::uint64_t mode, number(block, 100, 8));
    TarEntry entry{
        .path = extended.path ? *std::move(extended.path) : path_of(block),
        .type = type_of(flag),
        .link = extended.link ? *std::move(extended.link) : std::string(field(block, 157, 100)),
        .mode = static_cast<std::uint32_t>(mode & 07777),
        .size = extended.size.value_or(size)};
    // Old archives mark directories by a slash alone.
    if (entry.type == TarEntry::Type::file && entry.path.ends_with('/')) {
      entry.type = TarEntry::Type::directory;
    }
    const bool has_content =
        entry.type == TarEntry::Type::file || entry.type == TarEntry::Type::other;
    if (!has_content) {
      entry.size = 0;
    }
    left_ = entry.size;
    padding_ = padding_of(left_);
    content_offset_ = offset_;
    return entry;
  }
}

Result<std::size_t> TarReader::read(std::span<char> into) {
  const std::size_t wanted = std::min<std::uint64_t>(into.size(), left_);
  if (wanted == 0) {
    return std::size_t{0};
  }
  TRY_ASSIGN(const std::size_t count, source_.read(into.first(wanted)));
  if (count == 0) {
    return fail(invalid_argument("tar file is cut off"));
  }
  left_ -= count;
  offset_ += count;
  return count;
}

}  // namespace codeflare::up
