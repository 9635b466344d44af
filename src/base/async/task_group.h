#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"

#include <cstddef>

namespace codeflare {

// The only way to run a task without awaiting it. Owns the stop token its tasks run under; must be
// joined or closed before it is destroyed (checked).
class TaskGroup {
 public:
  explicit TaskGroup(Loop& loop, const StopToken& parent = {});
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;
  ~TaskGroup();

  // Begins on a later turn of the loop. Ignored once the group stops (the task never starts).
  void spawn(Task<void> task);
  std::size_t size() const { return running_; }
  StopToken stop_token() const { return source_.token(); }
  void request_stop() { source_.request_stop(); }

  // Waits until every task has ended, without asking them to.
  Task<void> join();
  // Asks the tasks to stop and waits until they have.
  Task<void> close();

 private:
  StopSource source_;
  TaskContext context_;
  std::size_t running_ = 0;
  WaitList idle_;
};

}  // namespace codeflare
