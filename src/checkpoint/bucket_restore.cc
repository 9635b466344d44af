// Checkpoints on their way from the bucket to the store.
#include "base/async/sleep.h"
#include "checkpoint/bucket.h"
#include "checkpoint/documents.h"
#include "checkpoint/internal/bucket_words.h"
#include "checkpoint/refusal.h"

#include <utility>

namespace codeflare::checkpoint {

using internal::failed;
using internal::kEnding;
using internal::kManifest;
using internal::kParts;
using internal::wait_for;

namespace {

constexpr std::size_t kManifestBytesMax = 4u << 20;
// An outcome that nobody has asked for is old then.
constexpr Duration kOutcomeAge = std::chrono::minutes(1);
// Clients leave after two seconds.
constexpr Duration kRestoreWait = std::chrono::seconds(1);

}  // namespace

Task<Result<void>> Bucket::bring_back(JobKey job) {
  if (tasks_.stop_token().stop_requested() || removing_.contains(job)) {
    co_return fail(refuse(503, "Restoring", std::string(kEnding)));
  }
  RestorePtr found = restores_[job];
  const Instant now = client_.env().loop.now();
  if (found == nullptr || (found->outcome && now > after(found->ended_at, kOutcomeAge))) {
    found = restores_[job] = std::make_shared<Restore>();
    tasks_.spawn(with_stop(found->stop.token(), restore(job, found)));
  }
  if (!found->outcome) {
    static_cast<void>(co_await with_timeout(kRestoreWait, "restore", wait_for(found->ended)));
  }
  if (!found->outcome) {
    co_return fail(refuse(
        503, "Restoring",
        "the checkpoint of job " + job.text() + " comes back from the bucket; repeat the request"));
  }
  forget(job, found);
  if (!*found->outcome && found->outcome->error().code == ErrorCode::cancelled) {
    co_return fail(refuse(503, "Restoring", std::string(kEnding)));
  }
  co_return *found->outcome;
}

void Bucket::forget(const JobKey& job, const RestorePtr& restore) {
  if (const auto at = restores_.find(job); at != restores_.end() && at->second == restore) {
    restores_.erase(at);
  }
}

Task<void> Bucket::restore(JobKey job, RestorePtr restore) {
  restore->outcome = co_await restore_newest(job);
  restore->ended_at = client_.env().loop.now();
  if (*restore->outcome) {
    forget(job, restore);  // the store answers from now on
  }
  restore->ended.notify_all();
}

Task<Result<void>> Bucket::restore_newest(JobKey job) {
  const Result<Listed> listed = co_await list(job);
  if (!listed) {
    co_return fail(failed(listed.error()));
  }
  if (listed->committed.empty()) {
    co_return fail(not_found("job " + job.text() + " has no committed checkpoint"));
  }
  const std::string name = listed->committed.back().name;
  const Result<void> done = co_await copy_back(job, name);
  if (done) {
    logger_.info("checkpoint is back from the bucket", {{"job", job.text()}, {"name", name}});
    co_return done;
  }
  if (done.error().code == ErrorCode::cancelled) {
    co_return done;
  }
  logger_.warn("checkpoint is not back from the bucket",
               {{"job", job.text()}, {"name", name}, {"error", done.error()}});
  co_return fail(refuse(503, "RestoreFailed", "checkpoint " + name + ": " + done.error().message));
}

Task<void> Bucket::stop_restore(JobKey job) {
  const auto at = restores_.find(job);
  if (at == restores_.end()) {
    co_return;
  }
  const RestorePtr restore = at->second;
  restores_.erase(at);
  restore->stop.request_stop();
  while (!restore->outcome) {
    co_await restore->ended.wait_uncancellable();
  }
}

// The generation of the job may have risen meanwhile.
Task<Result<Store::Begun>> Bucket::begin_copy(JobKey job, const Checkpoint& from) {
  BeginRequest request{.generation = from.generation,
                       .step = from.step,
                       .world_size = from.world_size,
                       .job_name = from.job_name,
                       .bytes = from.bytes(),
                       .retention = from.retention,
                       .metadata = from.metadata};
  Result<Store::Begun> begun = co_await store_.begin(job, request);
  if (!begun) {
    const Refusal* refusal = refusal_of(begun.error());
    if (refusal != nullptr && refusal->reason == "OldGeneration") {
      request.generation = refusal->number_or_zero("newestGeneration");
      begun = co_await store_.begin(job, std::move(request));
    }
  }
  co_return begun;
}

Task<Result<void>> Bucket::copy_back(JobKey job, std::string name) {
  const std::string path = path_of(job) + name + "/";
  CO_TRY_ASSIGN(
      s3::Client::Part document,
      co_await client_.get({.key = path + std::string(kManifest), .size = 0, .etag = {}}));
  CO_TRY_ASSIGN(const std::string text,
                co_await net::read_all(std::move(document.body), kManifestBytesMax));
  CO_TRY_ASSIGN(const Checkpoint from, parse_checkpoint(text));
  CO_TRY_ASSIGN(const Store::Begun begun, co_await begin_copy(job, from));
  const CheckpointId id = begun.checkpoint->id;
  if (begun.checkpoint->state == State::committed) {
    co_return Result<void>();
  }
  for (const auto& [part, chunks] : from.parts) {
    PutRequest put{.part = part, .size = size_of(chunks), .crc32c = crc32c_of(chunks)};
    CO_TRY_ASSIGN(
        s3::Client::Part object,
        co_await client_.get({.key = path + std::string(kParts) + part, .size = 0, .etag = {}}));
    CO_TRY(co_await store_.put(job, id, std::move(put), std::move(object.body)));
  }
  CO_TRY_ASSIGN(const CheckpointPtr back, co_await store_.commit(job, id, {}));
  CopiesPtr& copies = copies_[job];
  if (copies == nullptr) {
    copies = std::make_shared<Copies>();
  }
  copies->kept = back;
  co_return Result<void>();
}

}  // namespace codeflare::checkpoint
