#include "checkpoint/crc32c.h"
#include "checkpoint/internal/receive.h"
#include "checkpoint/internal/store_parts.h"
#include "checkpoint/refusal.h"

#include <utility>

namespace codeflare::checkpoint {

using internal::Entry;
using internal::Job;
using internal::JobPtr;
using internal::Received;

namespace {

Result<void> check_sums(const PutRequest& request, const Received& received) {
  const auto differ = [](std::string_view what, std::uint32_t wanted, std::uint32_t got) {
    return fail(refuse(400, "ChecksumMismatch",
                       "received bytes have " + std::string(what) + " " + checksum_text(got) +
                           ", not " + checksum_text(wanted) + "; repeat the request"));
  };
  if (request.crc32c && *request.crc32c != received.crc32c) {
    return differ("crc32c", *request.crc32c, received.crc32c);
  }
  if (request.crc32 && *request.crc32 != received.crc32) {
    return differ("crc32", *request.crc32, received.crc32);
  }
  return {};
}

// Counts a chunk that arrives, of the store and of its checkpoint if that still exists at the end.
class Arrival {
 public:
  Arrival(StoreCounts& counts, JobPtr job, CheckpointId id)
      : counts_(counts), job_(std::move(job)), id_(id) {
    ++counts_.puts;
    ++job_->entries.at(id_).writers;
  }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() { end(); }

  void end() {
    if (job_ == nullptr) {
      return;
    }
    --counts_.puts;
    if (const auto entry = job_->entries.find(id_); entry != job_->entries.end()) {
      --entry->second.writers;
    }
    job_ = nullptr;
  }

 private:
  StoreCounts& counts_;
  JobPtr job_;
  CheckpointId id_;
};

}  // namespace

Task<Result<Chunk>> Store::put(JobKey key, CheckpointId id, PutRequest request, net::Body body) {
  CO_TRY(check_name("part", request.part));
  const JobPtr job = parts_->find(key);
  if (job == nullptr) {
    co_return fail(not_found("job " + key.text() + " has no checkpoints; begin again"));
  }
  CO_TRY_ASSIGN(Entry * entry, parts_->find_open(*job, id));
  if (parts_->counts.puts >= parts_->options.puts_max) {
    co_return fail(
        refuse(503, "Busy",
               std::to_string(parts_->counts.puts) + " chunks arrive at once; repeat the request"));
  }
  const std::string file = "c." + std::to_string(++entry->files_made);
  const std::string path = parts_->disk.chunk_path(key, id, file);
  Arrival arrival(parts_->counts, job, id);
  CO_TRY(co_await parts_->check_space(key.ns, request.size.value_or(0)));
  std::uint64_t charged = 0;
  internal::ReceiveOptions options{.path = path,
                                   .crc32 = request.crc32.has_value(),
                                   .free_bytes_min = parts_->options.free_bytes_min,
                                   .charge = [&](std::uint64_t bytes) -> Result<void> {
                                     TRY(parts_->charge(key.ns, bytes));
                                     charged += bytes;
                                     parts_->counts.bytes_received += bytes;
                                     return Result<void>();
                                   }};
  Result<Received> received = co_await internal::receive(parts_->env, parts_->disk.handles(),
                                                         std::move(options), std::move(body));
  Result<void> accepted =
      received ? check_sums(request, *received) : Result<void>(fail(std::move(received).error()));
  arrival.end();
  std::string unused = path;  // the file to remove
  Chunk chunk{.offset = request.offset, .file = file};
  if (accepted) {
    // The checkpoint may have been sealed, fenced off or removed meanwhile.
    Result<Entry*> again = parts_->find_open(*job, id);
    if (again) {
      chunk.size = received->size;
      chunk.crc32c = received->crc32c;
      Chunk& slot = (*again)->value->parts[request.part][request.offset];
      unused = slot.file.empty() ? "" : parts_->disk.chunk_path(key, id, slot.file);
      charged = slot.size;
      slot = chunk;
    } else {
      accepted = fail(std::move(again).error());
    }
  }
  parts_->used_bytes[key.ns] -= charged;
  if (!unused.empty()) {
    // Left-over files are garbage that the next start removes.
    static_cast<void>(
        co_await run_blocking(parts_->env, [&] { return parts_->disk.files().remove(unused); }));
  }
  if (!accepted) {
    co_return fail(co_await parts_->explain(std::move(accepted).error()));
  }
  parts_->trouble.clear();
  co_return chunk;
}

}  // namespace codeflare::checkpoint
