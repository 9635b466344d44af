#pragma once

#include "apiserver/store/object.h"
#include "base/env/file_system.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <vector>

namespace codeflare::apiserver {

struct Repaired {
  struct Dropped {
    std::string damage;  // names the object
    std::string file;    // where its text, as it was found, is kept
  };
  std::vector<Dropped> dropped;
  // Acknowledged writes at the end of the write-ahead log that were given up.
  struct LostWrites {
    std::string damage;
    std::string file{};  // where the log, as it was found, is kept; empty: there was none
  };
  std::optional<LostWrites> lost_writes;
  bool is_changed() const { return !dropped.empty() || lost_writes; }
  Revision revision = 0;  // that the store starts with
};

struct RepairOptions {
  std::string directory;
  // SQLite's file layer, for tests. Empty: the usual one.
  std::string vfs{};
};

// For when there is no snapshot to restore: takes the damaged objects out of the data directory,
// which no server may be using, so that the others can be served. Of a damaged write-ahead log what
// comes before the damage is kept. Revisions jump ahead of all that clients can have seen.
// `data_loss` when other objects may be missing as well; then nothing is changed, and the error
// says what helps. Blocks.
Result<Repaired> repair_data_directory(FileSystem& files, const RepairOptions& options);

}  // namespace codeflare::apiserver
