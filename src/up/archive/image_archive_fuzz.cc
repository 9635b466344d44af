#include "base/check.h"
#include "up/archive/image_archive.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>

// For every archive: written paths are plain, each of them once, in directories that were made
// before, and never below a link.

namespace codeflare::up {
namespace {

class TextFile final : public ArchiveFile {
 public:
  explicit TextFile(std::string_view text) : text_(text) {}
  Result<std::unique_ptr<ByteSource>> open(std::uint64_t offset, std::uint64_t size) override {
    return text_source(text_.substr(std::min<std::uint64_t>(offset, text_.size())).substr(0, size));
  }
  std::uint64_t size() const override { return text_.size(); }

 private:
  std::string_view text_;
};

class CheckingWriter final : public TreeWriter {
 public:
  Result<void> directory(const std::string& path) override {
    add(path);
    directories_.insert(path);
    return {};
  }
  Result<void> file(const std::string& path, std::uint32_t) override {
    CHECK(!links_, "a file after the first link");
    add(path);
    return {};
  }
  Result<void> append(std::span<const char>) override { return {}; }
  Result<void> hard_link(const std::string& existing, const std::string& path) override {
    CHECK(!links_ && all_.contains(existing), "a hard link to a file of the image");
    add(path);
    return {};
  }
  Result<void> symlink(const std::string&, const std::string& path) override {
    links_ = true;
    add(path);
    return {};
  }
  Result<void> mode(const std::string& path, std::uint32_t) override {
    CHECK(directories_.contains(path), "a directory that was made");
    return {};
  }

 private:
  void add(const std::string& path) {
    CHECK(all_.insert(path).second, "each name once");
    std::size_t begin = 0;
    while (begin <= path.size()) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string_view name = std::string_view(path).substr(begin, end - begin);
      CHECK(!name.empty() && name != "." && name != "..", "plain names");
      if (end < path.size()) {
        CHECK(directories_.contains(path.substr(0, end)), "below a directory");
      }
      begin = end + 1;
    }
  }

  std::set<std::string> all_;
  std::set<std::string> directories_;
  bool links_ = false;
};

// Headers that were changed are good headers again, or most inputs would end at their checksum.
std::string with_checksums(std::string text) {
  constexpr std::size_t kBlock = 512;
  for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) {
    if (text.compare(at + 257, 5, "ustar") != 0) {
      continue;
    }
    text.replace(at + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i) {
      sum += static_cast<unsigned char>(text[at + i]);
    }
    char digits[8];
    std::snprintf(digits, sizeof digits, "%06o", sum);
    text.replace(at + 148, 7, digits, 7);
  }
  return text;
}

}  // namespace
}  // namespace codeflare::up

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace codeflare::up;
  const std::string text = with_checksums(std::string(reinterpret_cast<const char*>(data), size));
  TextFile file(text);
  const codeflare::Result<ImageArchive> archive = ImageArchive::open(file, "amd64");
  if (!archive) {
    return 0;
  }
  for (const ArchivedImage& image : archive->images()) {
    static_cast<void>(archive->config(image));
    const codeflare::Result<ImageTree> tree = archive->tree(image);
    if (tree) {
      CheckingWriter writer;
      static_cast<void>(archive->unpack(image, *tree, writer, 1u << 20));
    }
  }
  return 0;
}
