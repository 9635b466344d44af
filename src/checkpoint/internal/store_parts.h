#pragma once

#include "base/async/task_group.h"
#include "checkpoint/internal/disk.h"
#include "checkpoint/internal/job_lock.h"
#include "checkpoint/store.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::checkpoint {

namespace internal {

struct Entry {
  std::shared_ptr<Checkpoint> value{};
  int writers = 0;
  std::int64_t files_made = 0;
  Instant touched{};
  // Shared with bodies that read the files.
  std::shared_ptr<void> hold = std::make_shared<char>();
};

struct Job {
  JobKey key{};
  JobRecord record{};
  bool recorded = false;  // the record is on disk
  bool gone = false;      // removed; look the job up again
  Instant used{};         // the last request, or the start of the service
  CheckpointId next_id = 1;
  std::int64_t next_number = 1;
  std::map<CheckpointId, Entry> entries{};
  std::shared_ptr<Checkpoint> latest{};
  std::map<std::string, Instant> lease_ends{};
  JobLock lock{};

  void find_latest();
};
using JobPtr = std::shared_ptr<Job>;

// A job that only this task changes.
struct LockedJob {
  JobPtr job{};
  JobLock::Guard guard;
};

// Files to remove once nobody reads them.
struct Doomed {
  JobKey job{};
  CheckpointId id = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<void> hold{};
};

}  // namespace internal

struct Store::Parts {
  Parts(Env env_in, StoreOptions options_in, Logger logger_in, internal::Disk disk_in)
      : env(env_in),
        options(std::move(options_in)),
        logger(std::move(logger_in)),
        disk(std::move(disk_in)),
        tasks(env.loop) {}

  void adopt(internal::FoundJob found);
  // Counts as a request.
  internal::JobPtr find(const JobKey& job) const;
  // The job as it is; with `make` an unknown one is made, else it is not found.
  Task<Result<internal::LockedJob>> lock(JobKey job, bool make);
  Result<internal::Entry*> find_open(internal::Job& job, CheckpointId id);
  Result<void> check_lease(const internal::Job& job, const std::optional<LeaseProof>& proof) const;

  Task<Result<void>> check_space(std::string ns, std::uint64_t bytes);
  std::uint64_t quota_of(const std::string& ns) const;
  Result<void> charge(const std::string& ns, std::uint64_t bytes);
  // 507 with numbers for a full disk; remembers trouble.
  Task<Error> explain(Error error);

  Task<Result<void>> write_record(internal::Job& job, JobRecord record);
  Task<Result<void>> raise_generation(internal::Job& job, JobRecord record);
  void expire(internal::Job& job, Retention retention);
  // Takes the entry out of the index; its files go later.
  void doom(internal::Job& job, CheckpointId id);
  void want_sweep();
  Task<void> sweep();
  Task<void> abort_idle();
  // With its files; nobody else changes it.
  Task<Result<void>> remove_job(internal::Job& job);
  Task<void> remove_unused();
  Task<void> watch_idle();

  Env env;
  StoreOptions options;
  Logger logger;
  internal::Disk disk;
  std::map<JobKey, internal::JobPtr> jobs;
  std::map<std::string, std::uint64_t> used_bytes;  // by namespace
  std::deque<internal::Doomed> doomed;
  bool sweep_due = false;
  WaitList sweep_wanted;
  StoreCounts counts{};
  std::string trouble;
  TaskGroup tasks;
};

}  // namespace codeflare::checkpoint
