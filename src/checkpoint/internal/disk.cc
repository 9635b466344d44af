#include "checkpoint/internal/disk.h"

#include "checkpoint/documents.h"
#include "checkpoint/rules.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace codeflare::checkpoint::internal {

namespace {

constexpr std::string_view kManifest = "manifest.json";
constexpr std::string_view kRecord = "job.json";
constexpr std::uint32_t kDirectoryMode = 0700;
constexpr std::uint32_t kFileMode = 0600;
// Ids that a lost record may have given out beyond the largest committed one.
constexpr CheckpointId kLostIds = 1'000'000;

std::optional<CheckpointId> parse_id(std::string_view name) {
  CheckpointId id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  return error == std::errc() && end == name.data() + name.size() && id > 0 ? std::optional(id)
                                                                            : std::nullopt;
}

// Without its record a job cannot know which ids and generations it has seen; both only rise.
JobRecord derive_record(const std::vector<Checkpoint>& committed) {
  JobRecord record;
  for (const Checkpoint& checkpoint : committed) {
    record.generation = std::max(record.generation, checkpoint.generation);
    record.id_ceiling = std::max(record.id_ceiling, checkpoint.id + kLostIds);
    record.job_name = checkpoint.job_name;
  }
  record.token_next = kLostIds;
  return record;
}

Result<JobRecord> read_record(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(const std::string text, files.read(path));
  return parse_record(text);
}

Result<Checkpoint> read_manifest(FileSystem& files, const std::string& path) {
  TRY_ASSIGN(const std::string text, files.read(path));
  return parse_checkpoint(text);
}

}  // namespace

Disk::Disk(FileSystem& files, FileHandles& handles, std::string directory)
    : files_(&files), handles_(&handles), directory_(std::move(directory)) {}

Result<Disk> Disk::open(FileSystem& files, std::string directory) {
  TRY_ASSIGN(FileHandles * handles, handles_of(files));
  Disk disk(files, *handles, std::move(directory));
  TRY(files.make_directories(disk.jobs_path(), kDirectoryMode));
  TRY_ASSIGN(disk.lock_, files.lock(join_path(disk.directory_, "lock")));
  return disk;
}

std::string Disk::jobs_path() const {
  return join_path(directory_, "jobs");
}
std::string Disk::job_path(const JobKey& job) const {
  return join_path(jobs_path(), job.ns + "/" + job.uid);
}
std::string Disk::checkpoint_path(const JobKey& job, CheckpointId id) const {
  return join_path(job_path(job), "checkpoints/" + std::to_string(id));
}
std::string Disk::chunk_path(const JobKey& job, CheckpointId id, const std::string& file) const {
  return join_path(checkpoint_path(job, id), file);
}

Result<std::vector<FoundJob>> Disk::scan(const Logger& logger) {
  std::vector<FoundJob> jobs;
  TRY_ASSIGN(const auto namespaces, files_->list(jobs_path()));
  for (const std::string& ns : namespaces) {
    TRY_ASSIGN(const auto uids, files_->list(join_path(jobs_path(), ns)));
    for (const std::string& uid : uids) {
      TRY_ASSIGN(FoundJob found, scan_job({ns, uid}, logger));
      if (files_->exists(join_path(job_path(found.job), kRecord))) {
        jobs.push_back(std::move(found));
      }
    }
  }
  return jobs;
}

Result<FoundJob> Disk::scan_job(const JobKey& job, const Logger& logger) {
  FoundJob found{.job = job};
  const std::string checkpoints = join_path(job_path(job), "checkpoints");
  if (files_->exists(checkpoints)) {
    TRY_ASSIGN(const auto names, files_->list(checkpoints));
    for (const std::string& name : names) {
      TRY(scan_checkpoint(name, found, logger));
    }
  }
  const std::string path = join_path(job_path(job), kRecord);
  Result<JobRecord> record = read_record(*files_, path);
  if (record) {
    found.record = *std::move(record);
    return found;
  }
  if (found.committed.empty()) {
    TRY(files_->remove_all(job_path(job)));
    return found;
  }
  logger.error("job record is damaged; deriving it from the checkpoints",
               {{"path", path}, {"error", record.error()}});
  found.record = derive_record(found.committed);
  TRY(write_record(job, found.record));
  return found;
}

Result<void> Disk::scan_checkpoint(const std::string& name, FoundJob& found, const Logger& logger) {
  const std::string path = join_path(job_path(found.job), "checkpoints/" + name);
  const std::string manifest = join_path(path, kManifest);
  if (!files_->exists(manifest)) {
    logger.info("removing a checkpoint that was not committed", {{"path", path}});
    return files_->remove_all(path);
  }
  Result<Checkpoint> checkpoint = read_manifest(*files_, manifest);
  if (checkpoint && parse_id(name) != checkpoint->id) {
    checkpoint = fail(data_loss("the manifest is of checkpoint " + std::to_string(checkpoint->id)));
  }
  if (checkpoint) {
    if (Result<void> checked = check_files(found.job, *checkpoint); !checked) {
      checkpoint = fail(std::move(checked).error());
    }
  }
  if (!checkpoint) {
    logger.error("checkpoint is damaged and not served; remove its directory",
                 {{"path", path}, {"error", checkpoint.error()}});
    return {};
  }
  TRY(remove_strays(found.job, *checkpoint));
  found.committed.push_back(*std::move(checkpoint));
  return {};
}

Result<void> Disk::check_files(const JobKey& job, const Checkpoint& checkpoint) {
  for (const auto& [name, part] : checkpoint.parts) {
    TRY(check_complete(name, part));
    for (const auto& [offset, chunk] : part) {
      TRY(check_name("chunk file", chunk.file));
      TRY_ASSIGN(const FileInfo info, files_->info(chunk_path(job, checkpoint.id, chunk.file)));
      if (info.size != chunk.size) {
        return fail(data_loss("part " + name + ": file " + chunk.file + " has " +
                              std::to_string(info.size) + " bytes, not " +
                              std::to_string(chunk.size)));
      }
    }
  }
  return {};
}

// Chunks that were replaced or never completed.
Result<void> Disk::remove_strays(const JobKey& job, const Checkpoint& checkpoint) {
  std::set<std::string> wanted = {std::string(kManifest)};
  for (const auto& [name, part] : checkpoint.parts) {
    for (const auto& [offset, chunk] : part) {
      wanted.insert(chunk.file);
    }
  }
  const std::string directory = checkpoint_path(job, checkpoint.id);
  TRY_ASSIGN(const auto names, files_->list(directory));
  for (const std::string& name : names) {
    if (!wanted.contains(name)) {
      TRY(files_->remove_all(join_path(directory, name)));
    }
  }
  return {};
}

Result<void> Disk::write_record(const JobKey& job, const JobRecord& record) {
  TRY(files_->make_directories(join_path(job_path(job), "checkpoints"), kDirectoryMode));
  return files_->write(join_path(job_path(job), kRecord), record_text(record), {.mode = kFileMode});
}

Result<void> Disk::make_checkpoint(const JobKey& job, CheckpointId id) {
  return files_->make_directories(checkpoint_path(job, id), kDirectoryMode);
}

Result<void> Disk::write_manifest(const JobKey& job, const Checkpoint& checkpoint) {
  // The chunks' content was synced when they arrived; their names are synced here.
  TRY(handles_->sync_directory(checkpoint_path(job, checkpoint.id)));
  return files_->write(join_path(checkpoint_path(job, checkpoint.id), kManifest),
                       checkpoint_text(checkpoint, Detail::manifest), {.mode = kFileMode});
}

Result<void> Disk::remove_manifest(const JobKey& job, CheckpointId id) {
  return files_->remove(join_path(checkpoint_path(job, id), kManifest));
}

Result<void> Disk::remove_checkpoint(const JobKey& job, CheckpointId id) {
  if (files_->exists(join_path(checkpoint_path(job, id), kManifest))) {
    TRY(remove_manifest(job, id));
  }
  return files_->remove_all(checkpoint_path(job, id));
}

Result<void> Disk::remove_job(const JobKey& job) {
  const std::string checkpoints = join_path(job_path(job), "checkpoints");
  if (files_->exists(checkpoints)) {
    TRY_ASSIGN(const auto names, files_->list(checkpoints));
    for (const std::string& name : names) {
      if (const auto id = parse_id(name)) {
        TRY(remove_checkpoint(job, *id));
      }
    }
  }
  return files_->remove_all(job_path(job));
}

Result<DiskSpace> Disk::space() {
  return handles_->disk_space(directory_);
}

}  // namespace codeflare::checkpoint::internal
