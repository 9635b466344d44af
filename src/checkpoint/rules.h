#pragma once

#include "base/result.h"
#include "base/time.h"
#include "checkpoint/checkpoint.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The decisions of the store: values in, values out.
namespace codeflare::checkpoint {

// Of parts and leases: 1 to 128 of A-Za-z0-9._-, beginning with a letter or digit.
Result<void> check_name(std::string_view what, std::string_view name);
// Of namespaces and UIDs: 1 to 63 of a-z0-9-.
Result<void> check_job(const JobKey& job);

// True when `a` is what `latest` prefers: generation, then step, then id.
bool is_newer(const Checkpoint& a, const Checkpoint& b);

// Rejects a generation that is older than the newest one seen.
Result<void> check_generation(const JobKey& job, std::int64_t generation, std::int64_t newest);

// Names the first gap or overlap of a part's chunks.
Result<void> check_complete(std::string_view name, const Part& part);

// A part as a client describes it in its commit.
struct ExpectedPart {
  std::string name{};
  std::uint64_t size = 0;
  std::optional<std::uint32_t> crc32c{};
};
Result<void> check_expected(const Checkpoint& checkpoint, const std::vector<ExpectedPart>& parts);

// Committed checkpoints to remove, oldest first; never the newest one.
std::vector<CheckpointId> expired(std::vector<const Checkpoint*> committed, Retention retention);

struct LeaseRequest {
  std::string name{};
  std::string holder{};
  std::int64_t token = 0;  // of renew and release
  std::int64_t seconds = 30;
};
// A lease and when it ends; absent or ended ones are free.
struct HeldLease {
  Lease lease{};
  Instant ends{};
};
// The lease after an acquire; its token is `token_next` when the holder changes.
Result<Lease> acquire_lease(const HeldLease* held, const LeaseRequest& request, Instant now,
                            std::int64_t token_next);
Result<Lease> renew_lease(const HeldLease* held, const LeaseRequest& request, Instant now);

// Of a quota or a disk: rejects what does not fit, with numbers.
struct Room {
  std::uint64_t quota_bytes = 0;  // 0: none
  std::uint64_t used_bytes = 0;   // of the namespace
  std::uint64_t free_bytes = 0;   // of the disk, less what must stay free
};
Result<void> check_room(std::string_view ns, const Room& room, std::uint64_t needed_bytes);

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // not included
};
// Of a Range header: nothing when it asks for the whole or is in a form that servers ignore.
Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size);

}  // namespace codeflare::checkpoint
