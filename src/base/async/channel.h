#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

namespace codeflare {

// A bounded queue between coroutines of one loop. push() waits while it is full; after close() the
// rest can still be popped, then pop() fails with `unavailable`.
template <typename T>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) { CHECK(capacity > 0); }

  Task<Result<void>> push(T value) {
    while (!closed_ && queue_.size() >= capacity_) {
      CO_TRY(co_await not_full_.wait());
    }
    if (closed_) {
      co_return fail(unavailable("channel is closed"));
    }
    queue_.push_back(std::move(value));
    not_empty_.notify_one();
    co_return Result<void>();
  }

  // False when full or closed; the caller's policy decides what to drop.
  bool try_push(T value) {
    if (closed_ || queue_.size() >= capacity_) {
      return false;
    }
    queue_.push_back(std::move(value));
    not_empty_.notify_one();
    return true;
  }

  Task<Result<T>> pop() {
    while (queue_.empty()) {
      if (closed_) {
        co_return fail(unavailable("channel is closed"));
      }
      CO_TRY(co_await not_empty_.wait());
    }
    co_return *try_pop();
  }

  std::optional<T> try_pop() {
    if (queue_.empty()) {
      return std::nullopt;
    }
    std::optional<T> value(std::move(queue_.front()));
    queue_.pop_front();
    not_full_.notify_one();
    return value;
  }

  void close() {
    closed_ = true;
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  std::size_t size() const { return queue_.size(); }
  bool closed() const { return closed_; }

 private:
  std::size_t capacity_;
  std::deque<T> queue_;
  bool closed_ = false;
  WaitList not_empty_;
  WaitList not_full_;
};

}  // namespace codeflare
