#include "base/async/sleep.h"

#include "base/async/wait_list.h"

#include <algorithm>
#include <string>

namespace codeflare {

namespace {

class SleepAwaiter {
 public:
  explicit SleepAwaiter(Instant when) : when_(when) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    const TaskContext& context = self.promise().context();
    if (context.stop.stop_requested()) {
      refused_ = true;
      return false;
    }
    loop_ = context.loop;
    timer_ = loop_->start_timer(when_, [this] { waiter_.wake(); });
    waiter_.suspend(self, context, [this] { loop_->cancel_timer(timer_); });
    return true;
  }
  Result<void> await_resume() {
    if (refused_ || waiter_.stopped()) {
      return fail(cancelled());
    }
    return {};
  }

 private:
  Instant when_;
  Loop* loop_ = nullptr;
  TimerId timer_;
  internal::Waiter waiter_;
  bool refused_ = false;
};

}  // namespace

Instant after(Instant now, Duration duration) {
  if (duration > Instant::max() - now) {
    return Instant::max();
  }
  // A wake-up time in the past is due now.
  return now + std::max(duration, Duration::zero());
}

Task<Result<void>> sleep_until(Instant when) {
  co_return co_await SleepAwaiter(when);
}

Task<Result<void>> sleep_for(Duration duration) {
  const TaskContext& context = co_await current_context();
  co_return co_await SleepAwaiter(after(context.loop->now(), duration));
}

namespace internal {

Error timeout_error(Duration timeout, std::string_view what) {
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count();
  return deadline_exceeded(std::string(what) + ": no answer within " + std::to_string(ms) + " ms");
}

}  // namespace internal

}  // namespace codeflare
