#pragma once

#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/children.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace codeflare {

// A scripted process, as its script sees it. SIGKILL ends the script at its next wait, SIGSTOP
// holds it there until SIGCONT. Other signals end it too, unless it handles them.
class SimProcess {
 public:
  SimProcess(std::int64_t pid, ChildCommand command) : pid_(pid), command_(std::move(command)) {}

  std::int64_t pid() const { return pid_; }
  const ChildCommand& command() const { return command_; }
  // The variable as the command sets it; empty when it does not.
  std::string variable(const std::string& name) const;

  void write(Child::Stream stream, std::string text);
  // From now on the signal waits in signals() instead of ending the process.
  void handle(int number) { handled_.insert(number); }
  // Handled signals that arrived, in order.
  std::deque<int>& signals() { return signals_; }
  // Notified when a signal arrives.
  WaitList& signalled() { return signalled_; }
  bool frozen() const { return frozen_; }
  // Sleeps, and longer while the process is frozen. Fails with `cancelled` when it is killed.
  Task<Result<void>> sleep(Duration duration);

 private:
  friend class SimChildren;
  struct Handle;

  std::int64_t pid_;
  ChildCommand command_;
  std::map<Child::Stream, std::string> written_;
  std::set<int> handled_;
  std::deque<int> signals_;
  bool frozen_ = false;
  StopSource killed_;
  int killed_by_ = 0;
  std::optional<ChildExit> exit_;
  WaitList signalled_;
  WaitList changed_;
};

// Children that are scripts, for simulations.
class SimChildren final : public Children {
 public:
  using Script = std::function<Task<ChildExit>(std::shared_ptr<SimProcess>)>;
  explicit SimChildren(Loop& loop);
  ~SimChildren() override;

  // Sets the script of a program name; a program without a script is not found.
  void set_program(const std::string& name, Script script);
  Result<std::unique_ptr<Child>> start(ChildCommand command) override;

  // Processes that have not ended, by pid.
  const std::map<std::int64_t, std::shared_ptr<SimProcess>>& running() const { return running_; }
  // As if somebody else had sent it.
  void signal(std::int64_t pid, int number);
  // Kills everything, as when the container ends, and waits.
  Task<void> close();

 private:
  Task<void> live(std::shared_ptr<SimProcess> process, Script script);

  TaskGroup group_;
  std::map<std::string, Script> programs_;
  std::map<std::int64_t, std::shared_ptr<SimProcess>> running_;
  std::int64_t last_pid_ = 100;
};

}  // namespace codeflare
