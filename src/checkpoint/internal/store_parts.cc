#include "checkpoint/internal/store_parts.h"

#include "base/async/sleep.h"
#include "checkpoint/refusal.h"

#include <algorithm>
#include <utility>

namespace codeflare::checkpoint {

using internal::Entry;
using internal::Job;
using internal::JobPtr;
using internal::LockedJob;

namespace {

constexpr Duration kSweepInterval = std::chrono::seconds(20);

}  // namespace

void internal::Job::find_latest() {
  latest = nullptr;
  for (const auto& [id, entry] : entries) {
    const bool committed = entry.value->state == State::committed;
    if (committed && (latest == nullptr || is_newer(*entry.value, *latest))) {
      latest = entry.value;
    }
  }
}

void Store::Parts::adopt(internal::FoundJob found) {
  auto job = std::make_shared<Job>();
  job->key = found.job;
  job->record = std::move(found.record);
  job->recorded = true;
  job->used = env.loop.now();
  job->next_id = job->record.id_ceiling;
  for (Checkpoint& checkpoint : found.committed) {
    job->next_number = std::max(job->next_number, checkpoint.number + 1);
    job->next_id = std::max(job->next_id, checkpoint.id + 1);
    used_bytes[job->key.ns] += checkpoint.bytes();
    Entry entry{.value = std::make_shared<Checkpoint>(std::move(checkpoint))};
    job->entries.emplace(entry.value->id, std::move(entry));
  }
  for (const auto& [name, lease] : job->record.leases) {
    job->lease_ends[name] = env.loop.now() + std::chrono::seconds(lease.seconds);
  }
  job->find_latest();
  jobs.emplace(job->key, std::move(job));
}

JobPtr Store::Parts::find(const JobKey& job) const {
  const auto found = jobs.find(job);
  if (found == jobs.end()) {
    return nullptr;
  }
  found->second->used = env.loop.now();
  return found->second;
}

Task<Result<LockedJob>> Store::Parts::lock(JobKey key, bool make) {
  while (true) {
    JobPtr job = find(key);
    if (job == nullptr && !make) {
      co_return fail(not_found("job " + key.text() + " has no checkpoints"));
    }
    if (job == nullptr) {
      job = std::make_shared<Job>();
      job->key = key;
      job->used = env.loop.now();
      jobs.emplace(key, job);
    }
    CO_TRY_ASSIGN(internal::JobLock::Guard guard, co_await job->lock.take());
    if (!job->gone) {
      co_return LockedJob{std::move(job), std::move(guard)};
    }
  }
}

Result<Entry*> Store::Parts::find_open(Job& job, CheckpointId id) {
  const auto found = job.entries.find(id);
  if (found == job.entries.end()) {
    return fail(not_found("checkpoint " + std::to_string(id) + " of job " + job.key.text() +
                          " does not exist; begin again"));
  }
  Entry& entry = found->second;
  TRY(check_generation(job.key, entry.value->generation, job.record.generation));
  if (entry.value->state != State::open) {
    return fail(refuse(
        409, "NotOpen",
        "checkpoint " + std::to_string(id) + " is " + std::string(to_string(entry.value->state))));
  }
  entry.touched = env.loop.now();
  return &entry;
}

Result<void> Store::Parts::check_lease(const Job& job,
                                       const std::optional<LeaseProof>& proof) const {
  if (!proof) {
    return {};
  }
  const auto held = job.record.leases.find(proof->name);
  if (held == job.record.leases.end() || held->second.token != proof->token) {
    return fail(refuse(
        409, "LeaseLost",
        "token " + std::to_string(proof->token) + " is not the newest of lease " + proof->name));
  }
  return {};
}

std::uint64_t Store::Parts::quota_of(const std::string& ns) const {
  auto quota = options.quotas.find(ns);
  if (quota == options.quotas.end()) {
    quota = options.quotas.find("");
  }
  return quota == options.quotas.end() ? 0 : quota->second;
}

Task<Result<void>> Store::Parts::check_space(std::string ns, std::uint64_t bytes) {
  CO_TRY_ASSIGN(const DiskSpace space, co_await run_blocking(env, [this] { return disk.space(); }));
  const std::uint64_t kept = std::min(options.free_bytes_min, space.free_bytes);
  co_return check_room(ns,
                       {.quota_bytes = quota_of(ns),
                        .used_bytes = used_bytes[ns],
                        .free_bytes = space.free_bytes - kept},
                       bytes);
}

Result<void> Store::Parts::charge(const std::string& ns, std::uint64_t bytes) {
  TRY(check_room(
      ns, {.quota_bytes = quota_of(ns), .used_bytes = used_bytes[ns], .free_bytes = bytes}, bytes));
  used_bytes[ns] += bytes;
  return {};
}

Task<Error> Store::Parts::explain(Error error) {
  if (refusal_of(error) != nullptr || error.code == ErrorCode::cancelled) {
    co_return error;
  }
  if (error.code == ErrorCode::resource_exhausted) {
    const Result<DiskSpace> space = co_await run_blocking(env, [this] { return disk.space(); });
    const std::uint64_t free_bytes = space ? space->free_bytes : 0;
    error = refuse(507, "DiskFull", error.message + "; older checkpoints are kept",
                   {{"freeBytes", free_bytes}});
  }
  if (error.code == ErrorCode::resource_exhausted || error.code == ErrorCode::internal ||
      error.code == ErrorCode::data_loss) {
    trouble = error.message;
    logger.error("the checkpoint disk rejected a write", {{"error", error}});
  }
  co_return error;
}

Task<Result<void>> Store::Parts::write_record(Job& job, JobRecord record) {
  Result<void> written =
      co_await run_blocking(env, [&] { return disk.write_record(job.key, record); });
  if (!written) {
    co_return fail(co_await explain(std::move(written).error()));
  }
  trouble.clear();
  job.record = std::move(record);
  job.recorded = true;
  co_return Result<void>();
}

// Open checkpoints of older generations are garbage from here on.
Task<Result<void>> Store::Parts::raise_generation(Job& job, JobRecord record) {
  CO_TRY(co_await write_record(job, std::move(record)));
  std::vector<CheckpointId> old;
  for (const auto& [id, entry] : job.entries) {
    if (entry.value->state == State::open && entry.value->generation < job.record.generation) {
      old.push_back(id);
    }
  }
  for (const CheckpointId id : old) {
    ++counts.aborted;
    doom(job, id);
  }
  co_return Result<void>();
}

void Store::Parts::expire(Job& job, Retention retention) {
  std::vector<const Checkpoint*> committed;
  for (const auto& [id, entry] : job.entries) {
    if (entry.value->state == State::committed) {
      committed.push_back(entry.value.get());
    }
  }
  for (const CheckpointId id : expired(std::move(committed), retention)) {
    ++counts.expired;
    doom(job, id);
  }
}

void Store::Parts::doom(Job& job, CheckpointId id) {
  const auto found = job.entries.find(id);
  if (found == job.entries.end()) {
    return;
  }
  doomed.push_back({.job = job.key,
                    .id = id,
                    .bytes = found->second.value->bytes(),
                    .hold = std::move(found->second.hold)});
  job.entries.erase(found);
  job.find_latest();
  want_sweep();
}

void Store::Parts::want_sweep() {
  sweep_due = true;
  sweep_wanted.notify_all();
}

// Removes files that nobody reads any more; a failure is tried again with the next sweep.
Task<void> Store::Parts::sweep() {
  while (true) {
    while (!sweep_due) {
      if (!co_await sweep_wanted.wait()) {
        co_return;
      }
    }
    sweep_due = false;
    std::deque<internal::Doomed> now = std::exchange(doomed, {});
    while (!now.empty()) {
      internal::Doomed one = std::move(now.front());
      now.pop_front();
      if (one.hold.use_count() > 1) {
        doomed.push_back(std::move(one));
        continue;
      }
      const Result<void> removed =
          co_await run_blocking(env, [&] { return disk.remove_checkpoint(one.job, one.id); });
      if (removed) {
        used_bytes[one.job.ns] -= one.bytes;
      } else {
        logger.warn("cannot remove a checkpoint; retrying",
                    {{"job", one.job.text()}, {"id", one.id}, {"error", removed.error()}});
        doomed.push_back(std::move(one));
      }
    }
  }
}

Task<void> Store::Parts::abort_idle() {
  const Instant oldest = env.loop.now() - options.open_timeout;
  for (const auto& [key, job] : std::map(jobs)) {
    Result<internal::JobLock::Guard> guard = co_await job->lock.take();
    if (!guard) {
      co_return;
    }
    std::vector<CheckpointId> idle;
    for (const auto& [id, entry] : job->entries) {
      if (entry.value->state == State::open && entry.writers == 0 && entry.touched < oldest) {
        idle.push_back(id);
      }
    }
    for (const CheckpointId id : idle) {
      logger.info("removing an idle checkpoint", {{"job", key.text()}, {"id", id}});
      ++counts.aborted;
      doom(*job, id);
    }
  }
}

Task<Result<void>> Store::Parts::remove_job(Job& job) {
  Result<void> removed = co_await run_blocking(env, [&] { return disk.remove_job(job.key); });
  if (!removed) {
    co_return fail(co_await explain(std::move(removed).error()));
  }
  for (const auto& [id, entry] : job.entries) {
    used_bytes[job.key.ns] -= entry.value->bytes();
  }
  job.entries.clear();
  job.latest = nullptr;
  job.gone = true;
  jobs.erase(job.key);
  co_return Result<void>();
}

Task<void> Store::Parts::remove_unused() {
  if (options.job_expiry == Duration::zero()) {
    co_return;
  }
  for (const auto& [key, job] : std::map(jobs)) {
    Result<internal::JobLock::Guard> guard = co_await job->lock.take();
    if (!guard) {
      co_return;
    }
    const bool written =
        std::ranges::any_of(job->entries, [](const auto& each) { return each.second.writers > 0; });
    if (job->gone || written || env.loop.now() - job->used < options.job_expiry) {
      continue;
    }
    const std::size_t checkpoints = job->entries.size();
    if (const Result<void> removed = co_await remove_job(*job); !removed) {
      logger.warn("cannot remove an unused job; retrying",
                  {{"job", key.text()}, {"error", removed.error()}});
      continue;
    }
    counts.expired += checkpoints;
    logger.info("removed an unused job", {{"job", key.text()}, {"checkpoints", checkpoints}});
  }
}

Task<void> Store::Parts::watch_idle() {
  while (co_await sleep_for(kSweepInterval)) {
    co_await abort_idle();
    co_await remove_unused();
    want_sweep();
  }
}

}  // namespace codeflare::checkpoint
