#pragma once

#include "base/result.h"

#include <memory>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace codeflare::apiserver {

// The write-ahead log of a database as a plain file, through SQLite's own file layer.
class WalFile {
 public:
  // The file must exist. An empty vfs: the usual one.
  static Result<WalFile> open(const std::string& vfs, const std::string& database);

  // Reads every byte and writes it back in place.
  Result<void> write_again();

 private:
  struct FreeName {
    void operator()(char* name) const { sqlite3_free_filename(name); }
  };
  struct CloseFile {
    void operator()(sqlite3_file* file) const;
  };
  Error error(const char* what, int code) const;

  std::string path_;
  // SQLite's file layer keeps the name.
  std::unique_ptr<char, FreeName> name_;
  std::unique_ptr<std::byte[]> memory_;
  std::unique_ptr<sqlite3_file, CloseFile> file_;  // in that memory
};

}  // namespace codeflare::apiserver
