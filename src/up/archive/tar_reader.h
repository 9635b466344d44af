#pragma once

#include "base/result.h"
#include "up/archive/byte_source.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace codeflare::up {

struct TarEntry {
  enum class Type : std::uint8_t { file, hard_link, symlink, directory, other };
  std::string path;  // as it is written: not safe
  Type type = Type::file;
  std::string link;  // of links
  std::uint32_t mode = 0;
  std::uint64_t size = 0;  // of files
};

// Reads a tar file in order: ustar, GNU long names, pax headers (path, linkpath, size).
//   TarReader tar(source);
//   while (true) { TRY_ASSIGN(entry, tar.next()); if (!entry) break; ... tar.read(buffer) ... }
class TarReader {
 public:
  explicit TarReader(ByteSource& source) : source_(source) {}

  // Nothing at the end.
  Result<std::optional<TarEntry>> next();
  // Content of the last entry; 0: its end. Unread content is skipped.
  Result<std::size_t> read(std::span<char> into);
  // Where the content of the last entry begins in the tar file.
  std::uint64_t content_offset() const { return content_offset_; }

 private:
  struct Extended {
    std::optional<std::string> path;
    std::optional<std::string> link;
    std::optional<std::uint64_t> size;
  };
  Result<void> skip(std::uint64_t bytes);
  Result<std::string> read_text(std::uint64_t size);
  Result<void> read_extended(char type, std::uint64_t size, Extended& extended);

  ByteSource& source_;
  std::uint64_t offset_ = 0;
  std::uint64_t content_offset_ = 0;
  std::uint64_t left_ = 0;     // of the content
  std::uint64_t padding_ = 0;  // behind it
};

}  // namespace codeflare::up
