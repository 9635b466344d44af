#pragma once

#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "checkpoint/store.h"
#include "s3/client.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace codeflare::checkpoint {

// A committed checkpoint in the bucket. Its objects lie below PREFIX/NAMESPACE/UID/NAME/:
// parts/PART, and manifest.json, which is written last and removed first.
struct BucketEntry {
  std::int64_t generation = 0;
  std::int64_t step = 0;
  std::string name{};  // GENERATION-STEP-UUID: never written with another content

  friend auto operator<=>(const BucketEntry&, const BucketEntry&) = default;
};
std::optional<BucketEntry> parse_bucket_name(std::string_view name);

struct BucketOptions {
  std::string prefix{};  // "" or "a/b/"
  // Larger parts are sent in pieces of this size. Stores demand 5 MiB.
  std::uint64_t piece_bytes = 256ull << 20;
};

// Copies of committed checkpoints in a bucket of S3. The store keeps its own, which are served; the
// bucket is read when the store has lost the checkpoints of a job. One service writes a prefix.
// Store and client outlive this. close() before the store's.
class Bucket {
 public:
  Bucket(Store& store, s3::Client& client, BucketOptions options, Logger logger);
  Task<void> close() { return tasks_.close(); }

  // For a job without a committed checkpoint in the store: a store that lost its disk forgot which
  // generations are old; the bucket knows.
  Task<Result<void>> fence(JobKey job);
  // Returns when the bucket has the checkpoint; fails with 503 BucketFailed. The copy does not end
  // with the caller, and a failed one is repeated until a newer checkpoint is wanted. Copies of a
  // job go one after the other; older ones beyond the retention are removed in between.
  Task<Result<void>> keep(JobKey job, CheckpointPtr checkpoint);
  // Of a job without a committed checkpoint in the store, which has one when this returns.
  // not_found: the bucket has none either; 503 Restoring: one is on its way to the store; 503
  // RestoreFailed: it did not arrive, and the next call tries again.
  Task<Result<void>> bring_back(JobKey job);
  // With all its objects; false: there were none.
  Task<Result<bool>> remove_job(JobKey job);

 private:
  struct Listed {
    std::map<std::string, std::vector<std::string>> keys{};  // by name of the entry
    std::vector<BucketEntry> committed{};                    // oldest first
  };
  Task<Result<Listed>> list(JobKey job);
  // The checkpoints of one job on their way to the bucket.
  struct Copies {
    CheckpointPtr wanted{};     // after `sending`
    CheckpointPtr sending{};    // or waits to be repeated
    CheckpointPtr kept{};       // the last one that arrived
    CheckpointPtr failed{};     // the last one that did not
    Error error = cancelled();  // of `failed`
    bool running = false;
    WaitList changed{};
    StopSource stop{};
  };
  using CopiesPtr = std::shared_ptr<Copies>;
  Task<void> send_wanted(JobKey job, CopiesPtr copies);
  Task<void> send_until_kept(JobKey job, CopiesPtr copies, Store::Held held);
  Task<Result<void>> send_all(JobKey job, Store::Held held, std::string name);
  Task<Result<void>> send_part(JobKey job, Store::Held held, std::string part, std::string key);
  Task<Result<void>> send_pieces(JobKey job, Store::Held held, std::string part, s3::Upload upload,
                                 std::uint64_t size);
  Task<void> drop(s3::Upload upload);
  struct Piece {
    s3::Client::Content content;
    std::uint32_t crc32c = 0;
  };
  Task<Result<Piece>> piece_of(JobKey job, Store::Held held, std::string part, ByteRange range);
  Task<void> expire(JobKey job, std::int64_t keep);
  Task<void> stop_copies(JobKey job);
  Task<Result<bool>> remove_all(JobKey job);
  Task<Result<void>> remove_entry(JobKey job, std::string name, std::vector<std::string> keys);
  // A checkpoint on its way from the bucket. It outlives the request that began it.
  struct Restore {
    std::optional<Result<void>> outcome{};
    Instant ended_at{};
    WaitList ended{};
    StopSource stop{};
  };
  using RestorePtr = std::shared_ptr<Restore>;
  Task<void> restore(JobKey job, RestorePtr restore);
  Task<Result<void>> restore_newest(JobKey job);
  void forget(const JobKey& job, const RestorePtr& restore);
  Task<void> stop_restore(JobKey job);
  Task<Result<void>> copy_back(JobKey job, std::string name);
  Task<Result<Store::Begun>> begin_copy(JobKey job, const Checkpoint& from);
  std::string path_of(const JobKey& job) const;

  Store& store_;
  s3::Client& client_;
  BucketOptions options_;
  Logger logger_;
  std::map<JobKey, CopiesPtr> copies_;
  std::set<JobKey> removing_;
  std::map<JobKey, RestorePtr> restores_;  // under way, or not asked for since they ended
  TaskGroup tasks_;
};

}  // namespace codeflare::checkpoint
