#include "checkpoint/internal/store_parts.h"

#include <utility>

namespace codeflare::checkpoint {

using internal::Job;
using internal::LockedJob;

namespace {

std::optional<HeldLease> held_lease(const Job& job, const std::string& name) {
  const auto lease = job.record.leases.find(name);
  const auto ends = job.lease_ends.find(name);
  if (lease == job.record.leases.end() || ends == job.lease_ends.end()) {
    return std::nullopt;
  }
  return HeldLease{.lease = lease->second, .ends = ends->second};
}

}  // namespace

Task<Result<Lease>> Store::acquire(JobKey key, LeaseRequest request) {
  CO_TRY(check_job(key));
  CO_TRY_ASSIGN(LockedJob locked, co_await parts_->lock(key, true));
  Job& job = *locked.job;
  const std::optional<HeldLease> held = held_lease(job, request.name);
  CO_TRY_ASSIGN(Lease lease, acquire_lease(held ? &*held : nullptr, request, parts_->env.loop.now(),
                                           job.record.token_next));
  if (!held || lease.token != held->lease.token) {
    JobRecord record = job.record;
    record.token_next = lease.token + 1;
    record.leases.insert_or_assign(request.name, lease);
    CO_TRY(co_await parts_->write_record(job, std::move(record)));
  }
  job.lease_ends[request.name] = parts_->env.loop.now() + std::chrono::seconds(lease.seconds);
  co_return lease;
}

Result<Lease> Store::renew(const JobKey& key, const LeaseRequest& request) {
  const internal::JobPtr job = parts_->find(key);
  const std::optional<HeldLease> held =
      job == nullptr ? std::nullopt : held_lease(*job, request.name);
  const Instant now = parts_->env.loop.now();
  TRY_ASSIGN(Lease lease, renew_lease(held ? &*held : nullptr, request, now));
  job->lease_ends[request.name] = now + std::chrono::seconds(lease.seconds);
  return lease;
}

// The record keeps the token, so that a proof with an older one stays rejected.
Task<Result<void>> Store::release(JobKey key, LeaseRequest request) {
  const internal::JobPtr job = parts_->find(key);
  const std::optional<HeldLease> held =
      job == nullptr ? std::nullopt : held_lease(*job, request.name);
  if (held && held->lease.holder == request.holder && held->lease.token == request.token) {
    job->lease_ends.erase(request.name);
  }
  co_return Result<void>();
}

}  // namespace codeflare::checkpoint
