#include "checkpoint/store.h"

#include "checkpoint/internal/part_body.h"
#include "checkpoint/internal/store_parts.h"
#include "checkpoint/refusal.h"

#include <algorithm>
#include <utility>

namespace codeflare::checkpoint {

using internal::Entry;
using internal::Job;
using internal::JobPtr;
using internal::LockedJob;

namespace {

// Ids that one write of the record allows.
constexpr CheckpointId kIdsPerRecord = 64;

Result<void> check_begin(const JobKey& job, const BeginRequest& request) {
  TRY(check_job(job));
  if (request.generation < 0 || request.step < 0 || request.world_size < 0) {
    return fail(invalid_argument("generation, step and worldSize must not be negative"));
  }
  if (request.retention.keep < 1 || request.retention.keep_every < 0) {
    return fail(invalid_argument("keep must be at least 1 and keepEvery at least 0"));
  }
  return {};
}

// The record that a new checkpoint needs on disk.
JobRecord record_for(const Job& job, const BeginRequest& request) {
  JobRecord record = job.record;
  record.generation = std::max(record.generation, request.generation);
  if (!request.job_name.empty()) {
    record.job_name = request.job_name;
  }
  if (job.next_id >= record.id_ceiling) {
    record.id_ceiling = job.next_id + kIdsPerRecord;
  }
  return record;
}

bool same(const JobRecord& a, const JobRecord& b) {
  return a.generation == b.generation && a.job_name == b.job_name && a.id_ceiling == b.id_ceiling;
}

std::shared_ptr<Checkpoint> find_step(const Job& job, const BeginRequest& request) {
  for (const auto& [id, entry] : job.entries) {
    if (entry.value->generation == request.generation && entry.value->step == request.step) {
      return entry.value;
    }
  }
  return nullptr;
}

}  // namespace

Store::Store(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Store::~Store() = default;

Task<Result<std::unique_ptr<Store>>> Store::open(Env env, StoreOptions options, Logger logger) {
  CO_TRY_ASSIGN(internal::Disk disk, co_await run_blocking(env, [&] {
                  return internal::Disk::open(env.files, options.directory);
                }));
  CO_TRY_ASSIGN(std::vector<internal::FoundJob> found,
                co_await run_blocking(env, [&] { return disk.scan(logger); }));
  auto parts = std::make_unique<Parts>(env, std::move(options), std::move(logger), std::move(disk));
  for (internal::FoundJob& job : found) {
    parts->adopt(std::move(job));
  }
  parts->tasks.spawn(parts->sweep());
  parts->tasks.spawn(parts->watch_idle());
  co_return std::unique_ptr<Store>(new Store(std::move(parts)));
}

Task<void> Store::close() {
  co_await parts_->tasks.close();
}

Task<Result<Store::Begun>> Store::begin(JobKey key, BeginRequest request) {
  CO_TRY(check_begin(key, request));
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, true));
  Job& job = *locked.job;
  CO_TRY(check_generation(key, request.generation, job.record.generation));
  CO_TRY(parts_->check_lease(job, request.lease));
  if (std::shared_ptr<Checkpoint> existing = find_step(job, request)) {
    job.entries.at(existing->id).touched = parts_->env.loop.now();
    co_return Begun{.checkpoint = std::move(existing), .is_new = false};
  }
  CO_TRY(co_await parts_->check_space(key.ns, request.bytes));
  JobRecord record = record_for(job, request);
  if (!job.recorded || !same(record, job.record)) {
    CO_TRY(co_await parts_->raise_generation(job, std::move(record)));
  }
  const CheckpointId id = job.next_id++;
  Result<void> made =
      co_await run_blocking(parts_->env, [&] { return parts_->disk.make_checkpoint(key, id); });
  if (!made) {
    co_return fail(co_await parts_->explain(std::move(made).error()));
  }
  Entry entry{.value = std::make_shared<Checkpoint>(), .touched = parts_->env.loop.now()};
  *entry.value = {.id = id,
                  .generation = request.generation,
                  .step = request.step,
                  .world_size = request.world_size,
                  .job_name = job.record.job_name,
                  .created = parts_->env.clock.wall(),
                  .metadata = std::move(request.metadata),
                  .retention = request.retention};
  ++parts_->counts.begun;
  CheckpointPtr value = entry.value;
  job.entries.emplace(id, std::move(entry));
  co_return Begun{.checkpoint = std::move(value), .is_new = true};
}

Task<Result<CheckpointPtr>> Store::commit(JobKey key, CheckpointId id, CommitRequest request) {
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, false));
  Job& job = *locked.job;
  if (const auto found = job.entries.find(id);
      found != job.entries.end() && found->second.value->state == State::committed) {
    co_return CheckpointPtr(found->second.value);
  }
  CO_TRY_ASSIGN(Entry * entry, parts_->find_open(job, id));
  CO_TRY(parts_->check_lease(job, request.lease));
  std::shared_ptr<Checkpoint> value = entry->value;
  if (entry->writers > 0) {
    co_return fail(refuse(409, "Incomplete",
                          "checkpoint " + std::to_string(id) + " still receives " +
                              std::to_string(entry->writers) + " chunks"));
  }
  for (const auto& [name, part] : value->parts) {
    CO_TRY(check_complete(name, part));
  }
  if (request.parts) {
    CO_TRY(check_expected(*value, *request.parts));
  }
  // Sealed: no chunk changes the value while the manifest is written.
  value->state = State::sealed;
  Checkpoint committed = *value;
  committed.state = State::committed;
  committed.number = job.next_number;
  committed.committed = parts_->env.clock.wall();
  Result<void> written = co_await run_blocking(
      parts_->env, [&] { return parts_->disk.write_manifest(key, committed); });
  if (!written) {
    value->state = State::open;
    co_return fail(co_await parts_->explain(std::move(written).error()));
  }
  parts_->trouble.clear();
  *value = std::move(committed);
  ++job.next_number;
  ++parts_->counts.committed;
  job.find_latest();
  parts_->expire(job, value->retention);
  co_return CheckpointPtr(std::move(value));
}

Task<Result<void>> Store::abort(JobKey key, CheckpointId id) {
  Result<LockedJob> locked = co_await parts_->lock(key, false);
  if (!locked && locked.error().code == ErrorCode::not_found) {
    co_return Result<void>();
  }
  CO_TRY_ASSIGN(LockedJob job, std::move(locked));
  const auto found = job.job->entries.find(id);
  if (found == job.job->entries.end()) {
    co_return Result<void>();
  }
  if (found->second.value->state == State::committed) {
    co_return fail(refuse(409, "NotOpen",
                          "checkpoint " + std::to_string(id) + " is COMMITTED; delete it instead"));
  }
  ++parts_->counts.aborted;
  parts_->doom(*job.job, id);
  co_return Result<void>();
}

Task<Result<void>> Store::remove(JobKey key, CheckpointId id) {
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, false));
  CO_TRY_ASSIGN(const CheckpointPtr checkpoint, get(key, id));
  if (checkpoint->state == State::committed) {
    Result<void> removed =
        co_await run_blocking(parts_->env, [&] { return parts_->disk.remove_manifest(key, id); });
    if (!removed) {
      co_return fail(co_await parts_->explain(std::move(removed).error()));
    }
  }
  parts_->doom(*locked.job, id);
  co_return Result<void>();
}

Task<Result<void>> Store::remove_job(JobKey key) {
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, false));
  co_return co_await parts_->remove_job(*locked.job);
}

Task<Result<std::int64_t>> Store::fence(JobKey key, std::int64_t generation) {
  CO_TRY(check_job(key));
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, true));
  CO_TRY(check_generation(key, generation, locked.job->record.generation));
  if (!locked.job->recorded || generation > locked.job->record.generation) {
    JobRecord record = locked.job->record;
    record.generation = generation;
    CO_TRY(co_await parts_->raise_generation(*locked.job, std::move(record)));
  }
  co_return generation;
}

Result<CheckpointPtr> Store::get(const JobKey& key, CheckpointId id) const {
  if (const JobPtr job = parts_->find(key)) {
    if (const auto found = job->entries.find(id); found != job->entries.end()) {
      return CheckpointPtr(found->second.value);
    }
  }
  return fail(
      not_found("checkpoint " + std::to_string(id) + " of job " + key.text() + " does not exist"));
}

Result<CheckpointPtr> Store::latest(const JobKey& key) const {
  const JobPtr job = parts_->find(key);
  if (job == nullptr || job->latest == nullptr) {
    return fail(not_found("job " + key.text() + " has no committed checkpoint"));
  }
  return CheckpointPtr(job->latest);
}

std::vector<CheckpointPtr> Store::list(const JobKey& key, std::size_t limit) const {
  std::vector<CheckpointPtr> all;
  if (const JobPtr job = parts_->find(key)) {
    for (const auto& [id, entry] : job->entries) {
      if (entry.value->state == State::committed) {
        all.push_back(entry.value);
      }
    }
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) { return is_newer(*a, *b); });
  all.resize(std::min(all.size(), limit));
  return all;
}

std::vector<JobSummary> Store::jobs(std::string_view ns) const {
  std::vector<JobSummary> summaries;
  for (const auto& [key, job] : parts_->jobs) {
    if (!job->recorded || (!ns.empty() && key.ns != ns)) {
      continue;
    }
    JobSummary summary{.job = key,
                       .job_name = job->record.job_name,
                       .generation = job->record.generation,
                       .latest = job->latest == nullptr ? 0 : job->latest->id};
    for (const auto& [id, entry] : job->entries) {
      summary.bytes += entry.value->bytes();
      summary.checkpoints += entry.value->state == State::committed ? 1 : 0;
    }
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

Result<Store::Held> Store::hold(const JobKey& key, CheckpointId id) const {
  TRY_ASSIGN(const CheckpointPtr checkpoint, get(key, id));
  if (checkpoint->state != State::committed) {
    return fail(not_found("checkpoint " + std::to_string(id) + " of job " + key.text() +
                          " is not committed"));
  }
  return Held{.checkpoint = checkpoint, .files = parts_->find(key)->entries.at(id).hold};
}

Result<Store::Reading> Store::read(const JobKey& key, CheckpointId id, const std::string& name,
                                   std::string_view range_header) {
  TRY_ASSIGN(const Held held, hold(key, id));
  return read(key, held, name, range_header);
}

Result<Store::Reading> Store::read(const JobKey& key, const Held& held, const std::string& name,
                                   std::string_view range_header) {
  const Checkpoint& checkpoint = *held.checkpoint;
  const auto part = checkpoint.parts.find(name);
  if (part == checkpoint.parts.end()) {
    return fail(not_found("checkpoint " + std::to_string(checkpoint.id) + " of job " + key.text() +
                          " has no part " + name));
  }
  Reading reading{.size = size_of(part->second), .crc32c = crc32c_of(part->second)};
  TRY_ASSIGN(const std::optional<ByteRange> range, parse_range(range_header, reading.size));
  reading.range = range.value_or(ByteRange{.begin = 0, .end = reading.size});
  std::vector<internal::PartBody::Source> sources;
  for (const auto& [offset, chunk] : part->second) {
    sources.push_back({parts_->disk.chunk_path(key, checkpoint.id, chunk.file), chunk});
  }
  reading.body = std::make_unique<internal::PartBody>(
      parts_->env, parts_->disk.handles(), std::move(sources), reading.range, held.files);
  return reading;
}

StoreCounts Store::counts() const {
  StoreCounts counts = parts_->counts;
  counts.jobs = parts_->jobs.size();
  for (const auto& [key, job] : parts_->jobs) {
    for (const auto& [id, entry] : job->entries) {
      counts.checkpoints += entry.value->state == State::committed ? 1 : 0;
    }
  }
  for (const auto& [ns, bytes] : parts_->used_bytes) {
    counts.bytes += bytes;
  }
  return counts;
}

const std::string& Store::trouble() const {
  return parts_->trouble;
}

}  // namespace codeflare::checkpoint
