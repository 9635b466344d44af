#pragma once

#include "base/env/env.h"
#include "base/log.h"
#include "base/result.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/rules.h"
#include "net/http.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare::checkpoint {

struct StoreOptions {
  std::string directory{};
  std::map<std::string, std::uint64_t> quotas{};  // bytes by namespace; "" for all others
  std::uint64_t free_bytes_min = 64u << 20;       // stays free on the disk
  Duration open_timeout = std::chrono::minutes(15);
  Duration job_expiry{};  // jobs without a request for so long are removed; zero: never
  int puts_max = 64;      // at a time
};

struct LeaseProof {
  std::string name{};
  std::int64_t token = 0;
};

struct BeginRequest {
  std::int64_t generation = 0;
  std::int64_t step = 0;
  std::int64_t world_size = 0;
  std::string job_name{};
  std::uint64_t bytes = 0;  // expected; 0: unknown
  Retention retention{};
  std::string metadata = "{}";
  std::optional<LeaseProof> lease{};
  bool bucket = false;  // its commit ends in the bucket
};

struct PutRequest {
  std::string part{};
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> size{};    // when the sender announced it
  std::optional<std::uint32_t> crc32c{};  // compared when given
  std::optional<std::uint32_t> crc32{};   // the same with zlib's polynomial
};

struct CommitRequest {
  std::optional<std::vector<ExpectedPart>> parts{};
  std::optional<LeaseProof> lease{};
  bool bucket = false;
};

struct JobSummary {
  JobKey job{};
  std::string job_name{};
  std::int64_t generation = 0;
  std::uint64_t bytes = 0;
  std::int64_t checkpoints = 0;  // committed
  CheckpointId latest = 0;       // 0: none
};

struct StoreCounts {
  std::uint64_t begun = 0;
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t expired = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t jobs = 0;
  std::uint64_t checkpoints = 0;  // committed ones that exist
  std::uint64_t bytes = 0;        // of all chunks
  int puts = 0;                   // under way
};

using CheckpointPtr = std::shared_ptr<const Checkpoint>;

// Checkpoints in a directory, visible once committed (docs/decisions/0015). One process owns the
// directory. Everything runs on the loop; files are touched off the loop. close() before
// destruction, after every task that uses the store has ended.
//   CO_TRY_ASSIGN(auto store, co_await Store::open(env, {.directory = "data"}, logger));
class Store {
 public:
  static Task<Result<std::unique_ptr<Store>>> open(Env env, StoreOptions options, Logger logger);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  Task<void> close();

  struct Begun {
    CheckpointPtr checkpoint{};
    bool is_new = false;
  };
  Task<Result<Begun>> begin(JobKey job, BeginRequest request);
  // Reads the body at the pace of the disk.
  Task<Result<Chunk>> put(JobKey job, CheckpointId id, PutRequest request, net::Body body);
  // Durable when it returns.
  Task<Result<CheckpointPtr>> commit(JobKey job, CheckpointId id, CommitRequest request);
  // Also fine when the checkpoint does not exist; a committed one stays.
  Task<Result<void>> abort(JobKey job, CheckpointId id);
  Task<Result<void>> remove(JobKey job, CheckpointId id);
  Task<Result<void>> remove_job(JobKey job);
  Task<Result<std::int64_t>> fence(JobKey job, std::int64_t generation);
  Task<Result<Lease>> acquire(JobKey job, LeaseRequest request);
  Result<Lease> renew(const JobKey& job, const LeaseRequest& request);
  Task<Result<void>> release(JobKey job, LeaseRequest request);

  // From memory.
  Result<CheckpointPtr> get(const JobKey& job, CheckpointId id) const;
  Result<CheckpointPtr> latest(const JobKey& job) const;
  // Committed ones, newest first.
  std::vector<CheckpointPtr> list(const JobKey& job, std::size_t limit) const;
  std::vector<JobSummary> jobs(std::string_view ns) const;  // "": of all namespaces

  struct Reading {
    net::Body body{};
    ByteRange range{};
    std::uint64_t size = 0;  // of the part
    std::uint32_t crc32c = 0;
  };
  // Bytes of a part of a committed checkpoint; they stay readable although the checkpoint is
  // removed meanwhile. `range_header` may be empty.
  Result<Reading> read(const JobKey& job, CheckpointId id, const std::string& part,
                       std::string_view range_header);

  // A committed checkpoint whose parts stay readable although retention removes it.
  struct Held {
    CheckpointPtr checkpoint{};
    std::shared_ptr<void> files{};
  };
  Result<Held> hold(const JobKey& job, CheckpointId id) const;
  Result<Reading> read(const JobKey& job, const Held& held, const std::string& part,
                       std::string_view range_header);

  StoreCounts counts() const;
  // Why the disk rejected the last write; empty when it did not.
  const std::string& trouble() const;

 private:
  struct Parts;
  explicit Store(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace codeflare::checkpoint
