#pragma once

#include "base/env/file_handle.h"
#include "base/env/file_system.h"
#include "base/log.h"
#include "base/result.h"
#include "checkpoint/checkpoint.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::checkpoint::internal {

struct FoundJob {
  JobKey job{};
  JobRecord record{};
  std::vector<Checkpoint> committed{};
};

// The files of the store (docs/decisions/0015); knows no index. Every call may block. Safe for
// several threads as far as they touch different checkpoints.
class Disk {
 public:
  static Result<Disk> open(FileSystem& files, std::string directory);

  // Everything committed; removes what is not. Damaged checkpoints stay on disk and are logged.
  Result<std::vector<FoundJob>> scan(const Logger& logger);

  Result<void> write_record(const JobKey& job, const JobRecord& record);
  Result<void> make_checkpoint(const JobKey& job, CheckpointId id);
  // The commit.
  Result<void> write_manifest(const JobKey& job, const Checkpoint& checkpoint);
  Result<void> remove_manifest(const JobKey& job, CheckpointId id);
  Result<void> remove_checkpoint(const JobKey& job, CheckpointId id);
  Result<void> remove_job(const JobKey& job);
  Result<DiskSpace> space();

  std::string chunk_path(const JobKey& job, CheckpointId id, const std::string& file) const;
  FileSystem& files() const { return *files_; }
  FileHandles& handles() const { return *handles_; }

 private:
  Disk(FileSystem& files, FileHandles& handles, std::string directory);
  std::string jobs_path() const;
  std::string job_path(const JobKey& job) const;
  std::string checkpoint_path(const JobKey& job, CheckpointId id) const;
  Result<FoundJob> scan_job(const JobKey& job, const Logger& logger);
  Result<void> scan_checkpoint(const std::string& name, FoundJob& found, const Logger& logger);
  Result<void> check_files(const JobKey& job, const Checkpoint& checkpoint);
  Result<void> remove_strays(const JobKey& job, const Checkpoint& checkpoint);

  FileSystem* files_;
  FileHandles* handles_;
  std::string directory_;
  std::shared_ptr<FileLock> lock_;
};

}  // namespace codeflare::checkpoint::internal
