#include "runtime/work_queue.h"

#include "base/async/sleep.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace codeflare::runtime {

WorkQueue::WorkQueue(Env env, WorkQueueOptions options) : env_(env), options_(options) {}

WorkQueue::~WorkQueue() {
  for (const auto& [key, timer] : delayed_) {
    env_.loop.cancel_timer(timer);
  }
}

void WorkQueue::add(const ObjectKey& key) {
  if (shut_down_) {
    return;
  }
  // Sooner than any delay; what the delayed look would have seen, this one sees.
  drop_delay(key);
  if (!dirty_.insert(key).second) {
    return;
  }
  if (observer_ != nullptr) {
    observer_->added();
  }
  if (!working_.contains(key)) {
    push(key);
  }
}

void WorkQueue::push(const ObjectKey& key) {
  ready_.push_back({key, env_.loop.now()});
  available_.notify_one();
}

void WorkQueue::add_after(const ObjectKey& key, Duration delay) {
  if (shut_down_) {
    return;
  }
  if (delay <= Duration::zero()) {
    add(key);
    return;
  }
  Instant when = after(env_.loop.now(), delay);
  if (auto found = delayed_.find(key); found != delayed_.end()) {
    if (found->second.when <= when) {
      return;
    }
    env_.loop.cancel_timer(found->second);
  }
  delayed_[key] = env_.loop.start_timer(when, [this, key] {
    delayed_.erase(key);
    add(key);
  });
}

void WorkQueue::add_rate_limited(const ObjectKey& key) {
  int& failures = failures_[key];
  // 5 ms doubled 18 times is past the cap; more doublings would overflow.
  Duration delay = std::min(options_.backoff_initial * (std::int64_t{1} << std::min(failures, 30)),
                            options_.backoff_max);
  ++failures;
  if (observer_ != nullptr) {
    observer_->retried();
  }
  add_after(key, delay);
}

void WorkQueue::forget(const ObjectKey& key) {
  failures_.erase(key);
}

int WorkQueue::failures(const ObjectKey& key) const {
  auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

Task<Result<ObjectKey>> WorkQueue::take() {
  while (!shut_down_ && ready_.empty()) {
    CO_TRY(co_await available_.wait());
  }
  if (shut_down_) {
    co_return fail(unavailable("the work queue is shut down"));
  }
  Waiting next = std::move(ready_.front());
  ready_.pop_front();
  dirty_.erase(next.key);
  const Instant now = env_.loop.now();
  working_.emplace(next.key, now);
  if (observer_ != nullptr) {
    observer_->taken(now - next.since);
  }
  co_return std::move(next.key);
}

void WorkQueue::done(const ObjectKey& key) {
  auto found = working_.find(key);
  CHECK(found != working_.end(), "done() for a key that no worker has");
  if (observer_ != nullptr) {
    observer_->finished(env_.loop.now() - found->second);
  }
  working_.erase(found);
  if (dirty_.contains(key) && !shut_down_) {
    push(key);
  }
}

void WorkQueue::shut_down() {
  shut_down_ = true;
  available_.notify_all();
}

void WorkQueue::drop_delay(const ObjectKey& key) {
  if (auto found = delayed_.find(key); found != delayed_.end()) {
    env_.loop.cancel_timer(found->second);
    delayed_.erase(found);
  }
}

Duration WorkQueue::unfinished_work() const {
  Duration total{0};
  for (const auto& [key, since] : working_) {
    total += env_.loop.now() - since;
  }
  return total;
}

Duration WorkQueue::longest_running() const {
  Duration longest{0};
  for (const auto& [key, since] : working_) {
    longest = std::max(longest, env_.loop.now() - since);
  }
  return longest;
}

}  // namespace codeflare::runtime
