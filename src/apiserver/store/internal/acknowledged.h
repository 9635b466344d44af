#pragma once

#include "apiserver/store/internal/generation.h"
#include "apiserver/store/internal/raw_file.h"
#include "apiserver/store/object.h"
#include "base/result.h"

#include <cstdint>
#include <optional>

namespace codeflare::apiserver {

// The last acknowledged revision, in a small file beside the database ("store-1.db-acknowledged").
// It is written behind the sync of each commit and synced only when the write-ahead log is folded
// in, so it costs no sync of its own. It never names a revision that is not on disk: a database
// that ends earlier has lost acknowledged writes.
//
// While durability is relaxed there is no such file.
class AcknowledgedRevision {
 public:
  // Nothing when there is no file or its checksum is wrong (a cut may tear it).
  static Result<std::optional<Revision>> read(const DataDirectory& directory,
                                              std::uint64_t generation);
  // Syncs the last writes of a killed process; fine when there is none.
  static Result<void> make_durable(const DataDirectory& directory, std::uint64_t generation);
  static Result<void> remove(const DataDirectory& directory, std::uint64_t generation);
  // Makes the file when it is missing, and syncs it.
  static Result<AcknowledgedRevision> open(const DataDirectory& directory, std::uint64_t generation,
                                           Revision revision);

  Result<void> write(Revision revision);
  Result<void> sync();

 private:
  AcknowledgedRevision(FileSystem& files, std::string path, RawFile file)
      : files_(&files), path_(std::move(path)), file_(std::move(file)) {}

  FileSystem* files_;
  std::string path_;
  RawFile file_;
};

}  // namespace codeflare::apiserver
