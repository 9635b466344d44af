#include "checkpoint/bucket.h"

#include "base/async/sleep.h"
#include "checkpoint/crc32c.h"
#include "checkpoint/documents.h"
#include "checkpoint/internal/bucket_words.h"
#include "checkpoint/refusal.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace codeflare::checkpoint {

using internal::failed;
using internal::kEnding;
using internal::kManifest;
using internal::kParts;
using internal::wait_for;

namespace {

// Between attempts to send a checkpoint: doubles up to the longest one.
constexpr Duration kRepeatWait = std::chrono::minutes(1);
constexpr Duration kRepeatWaitMax = std::chrono::minutes(30);
constexpr int kRepeatsMax = 12;
constexpr Duration kDropTimeout = std::chrono::seconds(5);

// For a checkpoint that went while it was sent.
class FailedBody final : public net::BodyStream {
 public:
  explicit FailedBody(Error error) : error_(std::move(error)) {}
  Task<Result<Bytes>> read() override { co_return fail(error_); }

 private:
  Error error_;
};

std::string range_text(const ByteRange& range) {
  return "bytes=" + std::to_string(range.begin) + "-" + std::to_string(range.end - 1);
}

struct Digests {
  std::string sha256;
  std::uint32_t crc32c = 0;
};

Task<Result<Digests>> digests_of(net::Body body) {
  s3::Sha256 sha256;
  std::uint32_t crc = 0;
  while (true) {
    CO_TRY_ASSIGN(const Bytes piece, co_await body->read());
    if (piece.empty()) {
      co_return Digests{.sha256 = sha256.hex(), .crc32c = crc};
    }
    sha256.add(piece.view());
    crc = crc32c(crc, piece.view());
  }
}

Duration wait_before(int attempt) {
  Duration wait = kRepeatWait;
  for (int i = 1; i < attempt && wait < kRepeatWaitMax; ++i) {
    wait *= 2;
  }
  return std::min(wait, kRepeatWaitMax);
}

}  // namespace

std::optional<BucketEntry> parse_bucket_name(std::string_view name) {
  BucketEntry entry{.name = std::string(name)};
  for (std::int64_t* number : {&entry.generation, &entry.step}) {
    const char* const last = name.data() + name.size();
    const auto [end, error] = std::from_chars(name.data(), last, *number);
    if (error != std::errc() || end == last || *end != '-' || *number < 0) {
      return std::nullopt;
    }
    name.remove_prefix(static_cast<std::size_t>(end - name.data()) + 1);
  }
  return name.empty() ? std::nullopt : std::optional(std::move(entry));
}

Bucket::Bucket(Store& store, s3::Client& client, BucketOptions options, Logger logger)
    : store_(store),
      client_(client),
      options_(std::move(options)),
      logger_(std::move(logger)),
      tasks_(client.env().loop) {}

std::string Bucket::path_of(const JobKey& job) const {
  return options_.prefix + job.ns + "/" + job.uid + "/";
}

Task<Result<Bucket::Listed>> Bucket::list(JobKey job) {
  const std::string path = path_of(job);
  Listed listed;
  std::string next;
  do {
    CO_TRY_ASSIGN(const s3::Listing page, co_await client_.list(path, std::move(next)));
    for (const s3::ObjectInfo& object : page.objects) {
      const std::string_view rest = std::string_view(object.key).substr(path.size());
      const std::string name(rest.substr(0, rest.find('/')));
      std::optional<BucketEntry> entry = parse_bucket_name(name);
      if (!entry) {
        continue;  // not ours
      }
      listed.keys[name].push_back(object.key);
      if (rest.substr(name.size()) == "/" + std::string(kManifest)) {
        listed.committed.push_back(*std::move(entry));
      }
    }
    next = page.next;
  } while (!next.empty());
  std::ranges::sort(listed.committed);
  co_return listed;
}

Task<Result<void>> Bucket::fence(JobKey job) {
  if (store_.latest(job)) {
    co_return Result<void>();
  }
  const Result<Listed> listed = co_await list(job);
  if (!listed) {
    co_return fail(failed(listed.error()));
  }
  if (!listed->committed.empty()) {
    const Result<std::int64_t> raised =
        co_await store_.fence(job, listed->committed.back().generation);
    const Refusal* refusal = raised ? nullptr : refusal_of(raised.error());
    if (!raised && (refusal == nullptr || refusal->reason != "OldGeneration")) {
      co_return fail(raised.error());
    }
  }
  co_return Result<void>();
}

Task<Result<void>> Bucket::keep(JobKey job, CheckpointPtr checkpoint) {
  if (tasks_.stop_token().stop_requested() || removing_.contains(job)) {
    co_return fail(refuse(503, "BucketFailed", std::string(kEnding)));
  }
  CopiesPtr copies = copies_[job];
  if (copies == nullptr) {
    copies = copies_[job] = std::make_shared<Copies>();
  }
  if (copies->failed == checkpoint) {
    copies->failed = nullptr;
  }
  if (copies->kept != checkpoint && copies->sending != checkpoint) {
    copies->wanted = checkpoint;
  }
  if (!std::exchange(copies->running, true)) {
    tasks_.spawn(with_stop(copies->stop.token(), send_wanted(job, copies)));
  }
  copies->changed.notify_all();  // a failed one is not waited with any longer
  while (copies->kept != checkpoint) {
    if (copies->failed == checkpoint && copies->error.code == ErrorCode::cancelled) {
      co_return fail(refuse(503, "BucketFailed", std::string(kEnding)));
    }
    if (copies->failed == checkpoint) {
      co_return fail(failed(copies->error));
    }
    if (copies->wanted != checkpoint && copies->sending != checkpoint) {
      co_return fail(refuse(503, "BucketFailed", "a newer checkpoint goes to the bucket instead"));
    }
    CO_TRY(co_await copies->changed.wait());
  }
  co_return Result<void>();
}

// The only task that changes the job's part of the bucket, except a removal, which ends it first.
Task<void> Bucket::send_wanted(JobKey job, CopiesPtr copies) {
  while (copies->wanted != nullptr) {
    copies->sending = std::exchange(copies->wanted, nullptr);
    Result<Store::Held> held = store_.hold(job, copies->sending->id);
    if (held) {
      co_await send_until_kept(job, copies, *std::move(held));
    } else {
      copies->failed = copies->sending;
      copies->error = std::move(held).error();
    }
    const std::int64_t keep = copies->sending->retention.keep;
    const bool kept = copies->kept == copies->sending;
    copies->sending = nullptr;
    copies->changed.notify_all();
    if (kept) {
      co_await expire(job, keep);
    }
  }
  copies->running = false;
  copies->changed.notify_all();
}

Task<void> Bucket::send_until_kept(JobKey job, CopiesPtr copies, Store::Held held) {
  // The same for each attempt: one whose answer was lost is not there twice.
  const std::string name = std::to_string(held.checkpoint->generation) + "-" +
                           std::to_string(held.checkpoint->step) + "-" +
                           client_.env().random.uuid();
  for (int attempt = 1;; ++attempt) {
    const Result<void> sent = co_await send_all(job, held, name);
    if (sent) {
      copies->kept = held.checkpoint;
      co_return;
    }
    copies->failed = held.checkpoint;
    copies->error = sent.error();
    copies->changed.notify_all();
    const TaskContext& context = co_await current_context();
    if (context.stop.stop_requested()) {
      co_return;
    }
    logger_.warn("checkpoint is not in the bucket", {{"job", job.text()},
                                                     {"id", std::to_string(held.checkpoint->id)},
                                                     {"error", sent.error()}});
    const Result<CheckpointPtr> there = store_.get(job, held.checkpoint->id);
    if (attempt > kRepeatsMax || !there || *there != held.checkpoint) {
      co_return;
    }
    const Instant again = after(context.loop->now(), wait_before(attempt));
    // Until then, or until somebody asks again.
    while (context.loop->now() < again && copies->wanted == nullptr &&
           copies->failed == held.checkpoint) {
      const Result<void> waited = co_await with_timeout(again - context.loop->now(), "repetition",
                                                        wait_for(copies->changed));
      if (!waited && waited.error().code == ErrorCode::cancelled) {
        co_return;
      }
    }
    if (copies->wanted != nullptr) {
      co_return;
    }
  }
}

Task<Result<void>> Bucket::send_all(JobKey job, Store::Held held, std::string name) {
  const std::string path = path_of(job) + name + "/";
  for (const auto& [part, chunks] : held.checkpoint->parts) {
    std::string key = path + std::string(kParts) + part;
    CO_TRY(co_await send_part(job, held, part, std::move(key)));
  }
  const std::string manifest = checkpoint_text(*held.checkpoint, Detail::manifest);
  s3::Client::Content content{.size = manifest.size(),
                              .sha256 = s3::sha256_hex(manifest),
                              .body = [&manifest] { return net::body_of(manifest); }};
  co_return co_await client_.put(path + std::string(kManifest), std::move(content));
}

Task<Result<Bucket::Piece>> Bucket::piece_of(JobKey job, Store::Held held, std::string part,
                                             ByteRange range) {
  const auto open = [this, job, held, part, range]() -> net::Body {
    Result<Store::Reading> reading =
        store_.read(job, held, part, range.end == range.begin ? "" : range_text(range));
    if (!reading) {
      return std::make_unique<FailedBody>(std::move(reading).error());
    }
    return std::move(reading->body);
  };
  net::Body body = open();
  CO_TRY_ASSIGN(Digests digests, co_await digests_of(std::move(body)));
  co_return Piece{.content = {.size = range.end - range.begin,
                              .sha256 = std::move(digests.sha256),
                              .body = open},
                  .crc32c = digests.crc32c};
}

Task<Result<void>> Bucket::send_part(JobKey job, Store::Held held, std::string part,
                                     std::string key) {
  const std::uint64_t size = size_of(held.checkpoint->parts.at(part));
  if (size <= options_.piece_bytes) {
    CO_TRY_ASSIGN(Piece whole, co_await piece_of(job, held, part, {0, size}));
    co_return co_await client_.put(std::move(key), std::move(whole.content));
  }
  CO_TRY_ASSIGN(const s3::Upload upload, co_await client_.begin_upload(std::move(key)));
  Result<void> sent = co_await send_pieces(job, held, part, upload, size);
  if (!sent) {
    co_await drop(upload);
  }
  co_return sent;
}

Task<Result<void>> Bucket::send_pieces(JobKey job, Store::Held held, std::string part,
                                       s3::Upload upload, std::uint64_t size) {
  std::vector<std::string> tags;
  std::uint32_t crc = 0;
  for (std::uint64_t begin = 0; begin < size; begin += options_.piece_bytes) {
    const ByteRange range{begin, std::min(size, begin + options_.piece_bytes)};
    CO_TRY_ASSIGN(Piece piece, co_await piece_of(job, held, part, range));
    crc = crc32c_combine(crc, piece.crc32c, range.end - range.begin);
    const int number = static_cast<int>(tags.size()) + 1;
    CO_TRY_ASSIGN(std::string tag,
                  co_await client_.put_part(upload, number, std::move(piece.content)));
    tags.push_back(std::move(tag));
  }
  // The disk checks whole chunks; pieces may begin and end within one.
  if (const std::uint32_t expected = crc32c_of(held.checkpoint->parts.at(part)); crc != expected) {
    co_return fail(data_loss("part " + part + " on the disk has crc32c " + checksum_text(crc) +
                             ", not " + checksum_text(expected)));
  }
  co_return co_await client_.finish_upload(upload, std::move(tags), size);
}

// Also while the service stops: a forgotten upload costs space.
Task<void> Bucket::drop(s3::Upload upload) {
  const TaskContext apart{&client_.env().loop, {}};
  static_cast<void>(co_await with_timeout(kDropTimeout, "end of an upload",
                                          client_.drop_upload(std::move(upload)))
                        .under(apart));
}

// The leftovers of failed sends go too. The next commit repairs failures.
Task<void> Bucket::expire(JobKey job, std::int64_t keep) {
  Result<Listed> listed = co_await list(job);
  if (!listed) {
    co_return;
  }
  std::set<std::string> stay;
  const auto& committed = listed->committed;
  for (std::size_t i = 0; i < committed.size() && i < static_cast<std::size_t>(keep); ++i) {
    stay.insert(committed[committed.size() - 1 - i].name);
  }
  for (auto& [name, keys] : listed->keys) {
    if (!stay.contains(name)) {
      std::vector<std::string> gone = std::move(keys);
      if (const Result<void> removed = co_await remove_entry(job, name, std::move(gone));
          !removed) {
        logger_.warn("old checkpoint stays in the bucket",
                     {{"job", job.text()}, {"error", removed.error()}});
        co_return;
      }
    }
  }
}

Task<Result<void>> Bucket::remove_entry(JobKey job, std::string name,
                                        std::vector<std::string> keys) {
  const std::string manifest = path_of(job) + name + "/" + std::string(kManifest);
  if (std::erase(keys, manifest) > 0) {
    keys.insert(keys.begin(), manifest);
  }
  for (const std::string& key : keys) {
    CO_TRY(co_await client_.remove(key));
  }
  co_return Result<void>();
}

Task<Result<bool>> Bucket::remove_job(JobKey job) {
  if (!removing_.insert(job).second) {
    co_return fail(refuse(503, "BucketFailed", "job " + job.text() + " is being removed"));
  }
  co_await stop_restore(job);
  co_await stop_copies(job);
  Result<bool> removed = co_await remove_all(job);
  removing_.erase(job);
  co_return removed ? std::move(removed) : Result<bool>(fail(failed(removed.error())));
}

Task<void> Bucket::stop_copies(JobKey job) {
  const auto at = copies_.find(job);
  if (at == copies_.end()) {
    co_return;
  }
  const CopiesPtr copies = at->second;
  copies_.erase(at);
  copies->wanted = nullptr;
  copies->stop.request_stop();
  while (copies->running) {
    co_await copies->changed.wait_uncancellable();
  }
}

Task<Result<bool>> Bucket::remove_all(JobKey job) {
  CO_TRY_ASSIGN(Listed listed, co_await list(job));
  for (auto& [name, keys] : listed.keys) {
    std::vector<std::string> gone = std::move(keys);
    CO_TRY(co_await remove_entry(job, name, std::move(gone)));
  }
  co_return !listed.keys.empty();
}

}  // namespace codeflare::checkpoint
