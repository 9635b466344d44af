#pragma once

#include "base/result.h"

#include <cstdint>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace codeflare::apiserver {

// A prepared statement. Bound text must stay until the statement is reset.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}

  void bind(int index, std::uint64_t value);
  void bind(int index, std::string_view text);
  // True: there is a row.
  Result<bool> step();
  void reset() { sqlite3_reset(handle_.get()); }
  // step() for statements that give no rows, then reset().
  Result<void> run();

  std::uint64_t number(int column) const;
  // Until the next step.
  std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// A connection. A full disk (or a lock that does not come free) is `resource_exhausted`, a damaged
// file `data_loss`, everything else that the disk does `internal`.
class Database {
 public:
  struct OpenOptions {
    std::string path;
    std::string vfs{};  // empty: the usual one
    bool read_only = false;
    // The file alone, read only: what waits in its write-ahead log does not show.
    bool without_log = false;
  };
  // The file must exist; it may be empty.
  static Result<Database> open(const OpenOptions& options);

  Result<void> run(const char* sql);
  // For statements that give one number: pragmas and the like.
  Result<std::uint64_t> number(const char* sql);
  Result<Statement> prepare(const char* sql);
  // A compact copy, not synced. The file may be there if it is empty. Errors name the copy.
  Result<void> copy_to(const std::string& path);

  const std::string& path() const { return path_; }
  sqlite3* handle() const { return handle_.get(); }
  // "path: what: SQLite's words (code)".
  Error error(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace codeflare::apiserver
