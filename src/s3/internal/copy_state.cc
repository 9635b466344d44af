#include "s3/internal/copy_state.h"

#include <algorithm>
#include <charconv>

namespace codeflare::s3::internal {

namespace {

constexpr std::size_t kDigits = 16;

void add(std::uint64_t& hash, std::string_view text) {
  for (const char c : text) {  // FNV-1a
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
}

}  // namespace

std::uint64_t mark_of(std::string_view path, const FileInfo& info) {
  std::uint64_t hash = 14695981039346656037u;
  add(hash, path);
  add(hash, "\n" + std::to_string(info.size) + "\n" +
                std::to_string(info.modified.time_since_epoch().count()));
  return hash;
}

std::string line_of(std::uint64_t mark) {
  std::string text(kDigits, '0');
  for (std::size_t i = kDigits; i > 0; --i, mark >>= 4) {
    text[i - 1] = "0123456789abcdef"[mark & 15];
  }
  return text + "\n";
}

Result<KnownFiles> KnownFiles::parse(std::string_view text) {
  KnownFiles known;
  known.marks_.reserve(text.size() / (kDigits + 1));
  while (!text.empty()) {
    std::uint64_t mark = 0;
    const char* end = text.data() + std::min(kDigits, text.size());
    if (text.size() <= kDigits || text[kDigits] != '\n' ||
        std::from_chars(text.data(), end, mark, 16).ptr != end) {
      return fail(data_loss("the list of copied files is damaged"));
    }
    known.marks_.push_back(mark);
    text.remove_prefix(kDigits + 1);
  }
  std::ranges::sort(known.marks_);
  return known;
}

bool KnownFiles::has(std::uint64_t mark) const {
  return std::ranges::binary_search(marks_, mark);
}

}  // namespace codeflare::s3::internal
