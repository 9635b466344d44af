#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// A database or a file beside it as plain bytes, through SQLite's own file layer: no locks, and
// nothing is synced.
class RawFile {
 public:
  // The file must exist. An empty vfs: the usual one.
  struct Name {
    std::string vfs{};
    std::string database;
    std::string suffix{};  // "-wal"
  };
  static Result<RawFile> open(const Name& name);

  Result<std::uint64_t> size();
  // Zeros behind the end of the file.
  Result<void> read(std::uint64_t offset, std::span<char> bytes);
  Result<void> write(std::uint64_t offset, std::string_view bytes);
  Result<void> truncate(std::uint64_t size);
  // All bytes in order, piece by piece.
  using Visitor = std::function<Result<void>(std::uint64_t offset, std::string_view bytes)>;
  Result<void> visit(const Visitor& visitor);

 private:
  struct FreeName {
    void operator()(char* name) const { sqlite3_free_filename(name); }
  };
  struct CloseFile {
    void operator()(sqlite3_file* file) const;
  };
  Result<void> check(const char* what, int code) const;

  std::string path_;
  // SQLite's file layer keeps the name.
  std::unique_ptr<char, FreeName> name_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<sqlite3_file, CloseFile> file_;  // in that memory
};

}  // namespace codeflare::apiserver
