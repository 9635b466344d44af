#pragma once

#include "apiserver/store/log.h"
#include "base/env/file_system.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace codeflare::apiserver {

struct SqliteLogOptions {
  std::string directory;  // made when missing, 0700
  enum class Durability : std::uint8_t {
    full,     // nothing acknowledged is ever lost
    relaxed,  // nothing is lost when the process dies; a power cut may lose the last writes
    none,     // for the test that shows what syncing is for
  };
  Durability durability = Durability::full;
  // The write-ahead log is folded into the database beyond this.
  std::uint64_t backlog_bytes_max = 16u << 20;
  // SQLite's file layer: tests put one that fails underneath. Empty: the usual one.
  std::string vfs{};
};

// The log in an SQLite database of the directory, locked until the log is destroyed:
// `failed_precondition` when another process has it. Blocks.
//
// The database is a file with a generation number in its name. A generation gets its name when it
// is complete and synced; the highest wins and the others are removed. A database whose sync failed
// is never written again: rebuild() makes the next generation.
Result<std::unique_ptr<Log>> open_sqlite_log(FileSystem& files, SqliteLogOptions options);

// The lock alone, for a server that keeps more in the directory and takes it first of all.
Result<std::unique_ptr<FileLock>> lock_data_directory(FileSystem& files,
                                                      const std::string& directory);
// As above, under a lock that is held already.
Result<std::unique_ptr<Log>> open_sqlite_log(FileSystem& files, SqliteLogOptions options,
                                             std::unique_ptr<FileLock> lock);

}  // namespace codeflare::apiserver
