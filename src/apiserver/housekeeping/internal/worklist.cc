#include "apiserver/housekeeping/internal/worklist.h"

#include "base/async/sleep.h"
#include "base/env/backoff.h"

#include <algorithm>
#include <utility>

namespace codeflare::apiserver::internal {

namespace {

constexpr Duration kFirstWait = std::chrono::milliseconds(50);
constexpr Duration kLongestWait = std::chrono::seconds(10);

}  // namespace

Worklist::Worklist(Env env, TaskGroup& group, Logger log, std::size_t workers_max, Handler handler)
    : env_(env),
      group_(group),
      log_(std::move(log)),
      workers_max_(workers_max),
      handler_(std::move(handler)) {}

void Worklist::add(std::string key) {
  waiting_.insert(std::move(key));
  start_next();
}

void Worklist::add_after(std::string key, Duration wait) {
  group_.spawn(add_later(std::move(key), wait));
}

Task<void> Worklist::add_later(std::string key, Duration wait) {
  if (co_await sleep_for(wait)) {
    add(std::move(key));
  }
}

void Worklist::start_next() {
  while (running_.size() < workers_max_ && !group_.stop_token().stop_requested()) {
    const auto next = std::ranges::find_if(
        waiting_, [&](const std::string& key) { return !running_.contains(key); });
    if (next == waiting_.end()) {
      return;
    }
    std::string key = *next;
    waiting_.erase(next);
    running_.insert(key);
    group_.spawn(handle(std::move(key)));
  }
}

Task<void> Worklist::handle(std::string key) {
  Result<void> result = co_await handler_(key);
  running_.erase(key);
  if (result) {
    failures_.erase(key);
  } else if (result.error().code != ErrorCode::cancelled) {
    const Duration wait = full_jitter(kFirstWait, kLongestWait, ++failures_[key], env_.random);
    log_.warn("will be tried again",
              {{"key", key}, {"error", result.error().to_string()}, {"after", wait}});
    add_after(key, wait);
  }
  start_next();
}

}  // namespace codeflare::apiserver::internal
