#include "kube/testing/scripted_watch.h"

#include "base/async/sleep.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

namespace codeflare::kube::testing {

namespace {

std::string event_line(std::string_view type, std::string_view object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object) + "}\n";
}

std::string bookmark_line(std::uint64_t revision, bool ends_initial_events) {
  return event_line(
      "BOOKMARK",
      R"({"kind":"Bookmark","metadata":{"resourceVersion":")" + std::to_string(revision) + "\"" +
          (ends_initial_events ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
          "}}");
}

Task<Result<void>> wait_on(WaitList* list) {
  co_return co_await list->wait();
}

class WatchBody final : public net::BodyStream {
 public:
  WatchBody(Env env, std::shared_ptr<ScriptedService::Shared> shared,
            const ScriptedOptions& options, ScriptedWatch watch)
      : env_(env),
        shared_(std::move(shared)),
        options_(options),
        watch_(std::move(watch)),
        ended_(shared_->ended),
        broken_(shared_->broken) {
    ++shared_->open;
    next_bookmark_ = after(env_.loop.now(), options_.bookmark_interval);
    if (watch_.snapshot) {
      const std::optional<ScriptedStore::Objects> state =
          shared_->store.objects_at(watch_.target.collection(), watch_.revision);
      for (const auto& [key, object] : *state) {
        if (watch_.target.selects(*object)) {
          lines_.push_back(event_line("ADDED", watch_.target.text_of(*object)));
        }
      }
    }
  }
  ~WatchBody() override { --shared_->open; }

  Task<Result<Bytes>> read() override {
    while (true) {
      if (shared_->broken != broken_) {
        co_return fail(unavailable("connection was reset"));
      }
      if (!lines_.empty()) {
        std::string line = std::move(lines_.front());
        lines_.pop_front();
        co_return Bytes::from(std::move(line));
      }
      if (done_ || shared_->ended != ended_ || env_.loop.now() >= watch_.deadline) {
        co_return Bytes();
      }
      if (collect()) {
        continue;
      }
      Task<Result<void>> change = wait_on(&shared_->store.changed());
      const Duration patience = next_timer() - env_.loop.now();
      Result<void> woken = co_await with_timeout(patience, "change", std::move(change));
      if (!woken && woken.error().code == ErrorCode::cancelled) {
        co_return fail(std::move(woken).error());
      }
    }
  }

 private:
  // Turns what happened meanwhile into lines.
  bool collect() {
    if (watch_.marks_end && !mark_at_) {
      mark_at_ = after(env_.loop.now(), options_.initial_mark_delay);
    }
    if (watch_.revision < shared_->store.compacted()) {
      lines_.push_back(event_line(
          "ERROR", R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                   R"("message":"too old resource version","reason":"Expired","code":410})"));
      done_ = true;
      return true;
    }
    const std::string collection = watch_.target.collection();
    for (auto change = shared_->store.changes_after(watch_.revision);
         change != shared_->store.changes_end(); ++change) {
      if (change->collection == collection) {
        add_change(*change);
      }
    }
    watch_.revision = shared_->store.revision();
    if (watch_.marks_end && env_.loop.now() >= *mark_at_) {
      lines_.push_back(bookmark_line(watch_.revision, true));
      watch_.marks_end = false;
    }
    if (env_.loop.now() >= next_bookmark_) {
      next_bookmark_ = after(env_.loop.now(), options_.bookmark_interval);
      if (watch_.bookmarks && !watch_.marks_end) {
        lines_.push_back(bookmark_line(watch_.revision, false));
      }
    }
    return !lines_.empty();
  }

  // An object that begins or ceases to match the selectors comes and goes for this watch alone.
  void add_change(const ScriptedStore::Change& change) {
    const bool matched = change.before != nullptr && watch_.target.selects(*change.before);
    const bool matches = !change.deleted && watch_.target.selects(*change.after);
    if (matches) {
      lines_.push_back(
          event_line(matched ? "MODIFIED" : "ADDED", watch_.target.text_of(*change.after)));
    } else if (matched) {
      const ObjectRef last = with_revision(change.before->parse()->root, change.revision);
      lines_.push_back(event_line("DELETED", watch_.target.text_of(*last)));
    }
  }

  Instant next_timer() const {
    Instant next = std::min(next_bookmark_, watch_.deadline);
    return watch_.marks_end && mark_at_ ? std::min(next, *mark_at_) : next;
  }

  Env env_;
  std::shared_ptr<ScriptedService::Shared> shared_;
  ScriptedOptions options_;
  ScriptedWatch watch_;
  std::uint64_t ended_;
  std::uint64_t broken_;
  std::deque<std::string> lines_;
  std::optional<Instant> mark_at_;
  Instant next_bookmark_{};
  bool done_ = false;
};

}  // namespace

net::Body make_watch_body(Env env, std::shared_ptr<ScriptedService::Shared> shared,
                          const ScriptedOptions& options, ScriptedWatch watch) {
  return std::make_unique<WatchBody>(env, std::move(shared), options, std::move(watch));
}

}  // namespace codeflare::kube::testing
