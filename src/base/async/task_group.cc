#include "base/async/task_group.h"

#include <utility>

namespace codeflare {

TaskGroup::TaskGroup(Loop& loop, const StopToken& parent)
    : source_(parent), context_{&loop, source_.token()} {}

TaskGroup::~TaskGroup() {
  CHECK(running_ == 0, "a task group was destroyed while tasks run");
}

void TaskGroup::spawn(Task<void> task) {
  if (source_.stop_requested()) {
    return;
  }
  ++running_;
  start(context_, std::move(task), [this] {
    if (--running_ == 0) {
      idle_.notify_all();
    }
  });
}

Task<void> TaskGroup::join() {
  while (running_ > 0) {
    co_await idle_.wait_uncancellable();
  }
}

Task<void> TaskGroup::close() {
  source_.request_stop();
  co_await join();
}

}  // namespace codeflare
