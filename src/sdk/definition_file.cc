#include "sdk/definition_file.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace codeflare::sdk {

namespace {

constexpr std::string_view kMark = "# codeflare define ";
constexpr std::size_t kBytesMax = std::size_t{4} << 20;

// FNV-1a: notices edits, protects against nobody.
std::string checksum(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  }
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), hash, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

std::string definition_text(std::string_view yaml) {
  return std::string(kMark) + checksum(yaml) + "\n" + std::string(yaml);
}

bool is_unedited(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(kMark) || end == std::string_view::npos) {
    return false;
  }
  return text.substr(kMark.size(), end - kMark.size()) == checksum(text.substr(end + 1));
}

Result<void> write_definition(FileSystem& files, const std::string& path, std::string_view yaml,
                              bool force) {
  if (!force && files.exists(path)) {
    TRY_ASSIGN(const std::string old, files.read(path, kBytesMax));
    if (!is_unedited(old)) {
      return fail(
          already_exists(path + " was edited since it was defined; use --force to replace it"));
    }
  }
  return files.write(path, definition_text(yaml));
}

}  // namespace codeflare::sdk
