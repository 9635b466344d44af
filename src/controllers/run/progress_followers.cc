#include "controllers/run/progress_followers.h"

#include "base/async/sleep.h"
#include "model/codec/platform.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

constexpr std::int64_t kTailLines = 1000;
constexpr Duration kRetryAfter = std::chrono::seconds(2);
constexpr Duration kTick = std::chrono::seconds(1);

// Nothing when the Run does not run.
std::optional<ProgressSource> source_of(const kube::Object& object) {
  if (object.deleting() || object.string_at({"status", "phase"}) != model::run_phase::kRunning) {
    return std::nullopt;
  }
  const Result<model::Run> run = object.as<model::Run>();
  if (!run || run->status.head_pod.empty()) {
    return std::nullopt;
  }
  ProgressSource source{.uid = run->metadata.uid,
                        .pod = {run->metadata.ns, run->status.head_pod},
                        .container = run->status.api == "ray" ? "ray-job-submitter" : "main",
                        .pattern = std::string(platform::ProgressPattern::kDefault)};
  for (const model::EffectiveValue& value : run->status.effective) {
    if (value.name == "progress.pattern") {
      source.pattern = value.value;
    }
  }
  return source;
}

bool has_ended(const kube::Object& run) {
  const std::string phase = run.string_at({"status", "phase"});
  return !run.deleting() &&
         (phase == model::run_phase::kCompleted || phase == model::run_phase::kFailed);
}

}  // namespace

ProgressFollowers::ProgressFollowers(Env env, kube::Client& client, runtime::Informer& runs)
    : env_(env), client_(client) {
  runs.add_handler([this](const runtime::ObjectChange& what) { change(what); });
}

void ProgressFollowers::change(const runtime::ObjectChange& change) {
  std::optional<ProgressSource> source =
      change.now == nullptr ? std::nullopt : source_of(*change.now);
  if (change.old != nullptr) {
    const auto found = entries_.find(std::string(change.old->uid()));
    if (found != entries_.end() && !(source && *source == found->second.source)) {
      Entry& entry = found->second;
      const bool shown =
          entry.done &&
          (!entry.last || (change.now != nullptr &&
                           entry.last->progress == change.now->string_at({"status", "progress"})));
      if (change.now != nullptr && has_ended(*change.now) && entry.followed && !shown) {
        entry.ending = true;
      } else {
        entry.stop.request_stop();
        entries_.erase(found);
      }
    }
  }
  if (source && !entries_.contains(source->uid)) {
    std::string uid = source->uid;
    entries_.emplace(std::move(uid), Entry{.run = change.now->key(), .source = *std::move(source)});
  }
  changed_.notify_all();
}

std::optional<platform::Progress> ProgressFollowers::published(const std::string& uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? std::nullopt : found->second.published;
}

std::optional<platform::Progress> ProgressFollowers::last(const std::string& uid) const {
  const auto found = entries_.find(uid);
  return found == entries_.end() ? std::nullopt : found->second.last;
}

Task<void> ProgressFollowers::run() {
  const TaskContext& context = co_await current_context();
  TaskGroup group(env_.loop, context.stop);
  for (;;) {
    start_followers(group);
    publish();
    const Result<void> waited =
        anything_to_publish() ? co_await sleep_for(kTick) : co_await changed_.wait();
    if (!waited) {
      break;
    }
  }
  co_await group.close();
}

void ProgressFollowers::start_followers(TaskGroup& group) {
  for (auto& [uid, entry] : entries_) {
    if (followed_ >= kFollowersMax) {
      return;
    }
    if (!entry.followed) {
      entry.followed = true;
      ++followed_;
      group.spawn(follow(uid, entry.source, entry.stop.token()));
    }
  }
}

bool ProgressFollowers::anything_to_publish() const {
  return std::ranges::any_of(
      entries_, [](const auto& each) { return each.second.last != each.second.published; });
}

void ProgressFollowers::publish() {
  const Instant now = env_.clock.now();
  for (auto& [uid, entry] : entries_) {
    if (entry.last == entry.published ||
        (entry.published_at && now - *entry.published_at < kPublishEvery)) {
      continue;
    }
    entry.published = entry.last;
    entry.published_at = now;
    if (wake_) {
      wake_(entry.run);
    }
  }
}

Task<void> ProgressFollowers::follow(std::string uid, ProgressSource source, StopToken stop) {
  Result<platform::ProgressPattern> pattern = platform::ProgressPattern::parse(source.pattern);
  if (pattern) {
    platform::ProgressReader reader(*std::move(pattern));
    while (!stop.stop_requested()) {
      const Result<void> read = co_await with_stop(stop, read_log(uid, source, reader));
      const bool over = !read && (read.error().code == ErrorCode::cancelled ||
                                  read.error().code == ErrorCode::not_found ||
                                  read.error().code == ErrorCode::permission_denied);
      // The log also ends when its server does; after the end of the pod its Run ends soon.
      const auto entry = entries_.find(uid);
      const bool ending = entry == entries_.end() || entry->second.ending;
      if (over || ending || !co_await with_stop(stop, sleep_for(kRetryAfter))) {
        break;
      }
    }
  }
  --followed_;
  changed_.notify_all();
  const auto entry = entries_.find(uid);
  if (entry != entries_.end() && entry->second.source == source) {
    entry->second.done = true;
    if (entry->second.ending && wake_) {
      wake_(entry->second.run);  // its status may lack the last lines
    }
  }
}

Task<Result<void>> ProgressFollowers::read_log(std::string uid, ProgressSource source,
                                               platform::ProgressReader& reader) {
  kube::LogOptions options{.container = source.container, .follow = true, .tail_lines = kTailLines};
  CO_TRY_ASSIGN(net::Body body, co_await client_.logs(source.pod, std::move(options)));
  const auto note = [&] {
    const auto found = entries_.find(uid);
    if (found != entries_.end() && reader.last() && found->second.last != reader.last()) {
      found->second.last = reader.last();
      changed_.notify_all();
    }
  };
  while (body != nullptr) {
    CO_TRY_ASSIGN(const Bytes piece, co_await body->read());
    if (piece.empty()) {
      break;
    }
    reader.feed(piece.view());
    note();
  }
  reader.end();
  note();
  co_return Result<void>();
}

}  // namespace codeflare::controllers::runs
