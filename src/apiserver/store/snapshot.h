#pragma once

#include "apiserver/store/object.h"
#include "base/env/file_system.h"
#include "base/result.h"

#include <string>

namespace codeflare::apiserver {

// How far a restore moves the revision on: beyond whatever clients can have seen since the snapshot
// was taken, so that their old positions are answered "expired" instead of with other history.
inline constexpr Revision kRevisionStep = 1'000'000'000;

struct SnapshotOptions {
  std::string directory;
  std::string file;
};

// Copies the state in the data directory into a file (0600, synced), in one consistent version,
// also while a server of another process writes. `already_exists` when the file is there. Returns
// the revision of the copy. Blocks.
Result<Revision> take_snapshot(FileSystem& files, const SnapshotOptions& options);

struct RestoreOptions {
  std::string directory;
  std::string file;
  // Otherwise a directory that already holds a database is rejected (`already_exists`).
  bool replace = false;
};

// Makes the snapshot the state of the data directory, which no server may be using. Returns the
// revision that the store starts with. Blocks.
Result<Revision> restore_snapshot(FileSystem& files, const RestoreOptions& options);

}  // namespace codeflare::apiserver
