#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>
#include <utility>

namespace codeflare {

// Waits on the task's own loop; fails with `cancelled` when the task is asked to stop. Far-off
// times are safe: the wait ends at the latest representable instant.
Task<Result<void>> sleep_until(Instant when);
Task<Result<void>> sleep_for(Duration duration);

// `now` plus a wait, without overflow; a negative wait is none.
Instant after(Instant now, Duration duration);

// Runs the task with a deadline: when the time is up it is asked to stop, and if it then ends as
// cancelled the result is `deadline_exceeded` naming `what`.
template <typename T>
Task<Result<T>> with_timeout(Duration timeout, std::string what, Task<Result<T>> task);

// Runs the task so that it also stops when `stop` does.
template <typename T>
Task<T> with_stop(StopToken stop, Task<T> task);

namespace internal {
Error timeout_error(Duration timeout, std::string_view what);
}

template <typename T>
Task<Result<T>> with_timeout(Duration timeout, std::string what, Task<Result<T>> task) {
  const TaskContext& outer = co_await current_context();
  Loop& loop = *outer.loop;
  StopSource source(outer.stop);
  TaskContext inner{&loop, source.token()};
  bool timed_out = false;
  TimerId timer = loop.start_timer(after(loop.now(), timeout), [&] {
    timed_out = true;
    source.request_stop();
  });
  Result<T> result = co_await std::move(task).under(inner);
  loop.cancel_timer(timer);
  if (timed_out && !result && result.error().code == ErrorCode::cancelled &&
      !outer.stop.stop_requested()) {
    co_return fail(internal::timeout_error(timeout, what));
  }
  co_return result;
}

template <typename T>
Task<T> with_stop(StopToken stop, Task<T> task) {
  const TaskContext& outer = co_await current_context();
  StopSource source(outer.stop);
  StopCallback also(stop, [&] { source.request_stop(); });
  TaskContext inner{outer.loop, source.token()};
  co_return co_await std::move(task).under(inner);
}

}  // namespace codeflare
