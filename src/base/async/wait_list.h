#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <coroutine>

namespace codeflare {

namespace internal {

// A coroutine that waits for one wake-up or for its stop token, whichever comes first. Lives in the
// awaiting coroutine's frame. Waking posts to the loop, so a waker is never re-entered.
class Waiter final : private StopHook {
 public:
  Waiter() = default;

  // `leave` runs before the wake-up by the token, to take the waiter off wherever it queues. The
  // token must not have stopped yet.
  void suspend(std::coroutine_handle<> handle, const TaskContext& context, Work leave);
  // Without regard to the token.
  void suspend_uncancellable(std::coroutine_handle<> handle, const TaskContext& context);
  void wake();
  bool stopped() const { return stopped_; }

 private:
  void on_stop() override;

  std::coroutine_handle<> handle_;
  Loop* loop_ = nullptr;
  Work leave_;
  bool stopped_ = false;
};

}  // namespace internal

// Coroutines waiting for "something changed here". The waiter looks again after each wake-up:
//   while (queue_.empty()) { CO_TRY(co_await not_empty_.wait()); }
class WaitList {
 public:
  WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;
  ~WaitList() { CHECK(first_ == nullptr, "a coroutine still waits here"); }

  void notify_one();
  void notify_all();
  bool empty() const { return first_ == nullptr; }

  class Awaiter;
  // Result<void>: fails with `cancelled` when the waiting task is asked to stop.
  Awaiter wait();

  class QuietAwaiter;
  // Ignores the stop token: for waits that end a shutdown, such as joining tasks.
  QuietAwaiter wait_uncancellable();

 private:
  struct Node {
    internal::Waiter waiter;
    Node* previous = nullptr;
    Node* next = nullptr;
  };
  void link(Node& node);
  void unlink(Node& node);

  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

class WaitList::Awaiter {
 public:
  explicit Awaiter(WaitList& list) : list_(list) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    if (context.stop.stop_requested()) {
      refused_ = true;
      return false;
    }
    list_.link(node_);
    node_.waiter.suspend(self, context, [this] { list_.unlink(node_); });
    return true;
  }
  Result<void> await_resume() {
    if (refused_ || node_.waiter.stopped()) {
      return fail(cancelled());
    }
    return {};
  }

 private:
  WaitList& list_;
  Node node_;
  bool refused_ = false;
};

class WaitList::QuietAwaiter {
 public:
  explicit QuietAwaiter(WaitList& list) : list_(list) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> self) {
    list_.link(node_);
    node_.waiter.suspend_uncancellable(self, self.promise().context());
  }
  void await_resume() {}

 private:
  WaitList& list_;
  Node node_;
};

inline WaitList::Awaiter WaitList::wait() {
  return Awaiter(*this);
}
inline WaitList::QuietAwaiter WaitList::wait_uncancellable() {
  return QuietAwaiter(*this);
}

}  // namespace codeflare
