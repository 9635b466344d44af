#include "base/env/sim_children.h"

#include "base/async/sleep.h"

#include <csignal>
#include <utility>

namespace codeflare {

std::string SimProcess::variable(const std::string& name) const {
  auto at = command_.variables.find(name);
  return at == command_.variables.end() ? std::string() : at->second.value_or("");
}

void SimProcess::write(Child::Stream stream, std::string text) {
  written_[stream] += text;
  changed_.notify_all();
}

Task<Result<void>> SimProcess::sleep(Duration duration) {
  CO_TRY(co_await sleep_for(duration));
  while (frozen_) {
    CO_TRY(co_await signalled_.wait());
  }
  co_return Result<void>();
}

// The parent's end.
struct SimProcess::Handle final : Child {
  Handle(std::shared_ptr<SimProcess> process_in, SimChildren& children_in)
      : process(std::move(process_in)), children(children_in) {}
  ~Handle() override { signal(SIGKILL); }

  std::int64_t pid() const override { return process->pid_; }

  Task<Result<std::string>> read(Stream stream) override {
    auto kept = process;
    while (kept->written_[stream].empty()) {
      if (kept->exit_) {
        co_return std::string();
      }
      CO_TRY(co_await kept->changed_.wait());
    }
    co_return std::exchange(kept->written_[stream], {});
  }

  Task<Result<ChildExit>> wait() override {
    auto kept = process;
    while (!kept->exit_) {
      CO_TRY(co_await kept->changed_.wait());
    }
    co_return *kept->exit_;
  }

  void signal(int number) override { children.signal(process->pid_, number); }

  std::shared_ptr<SimProcess> process;
  SimChildren& children;
};

SimChildren::SimChildren(Loop& loop) : group_(loop) {}

SimChildren::~SimChildren() = default;

void SimChildren::set_program(const std::string& name, Script script) {
  programs_.insert_or_assign(name, std::move(script));
}

Result<std::unique_ptr<Child>> SimChildren::start(ChildCommand command) {
  auto at = programs_.find(command.program);
  if (at == programs_.end()) {
    return fail(not_found("program '" + command.program + "' not found"));
  }
  auto process = std::make_shared<SimProcess>(++last_pid_, std::move(command));
  running_.emplace(process->pid(), process);
  group_.spawn(live(process, at->second));
  return std::make_unique<SimProcess::Handle>(std::move(process), *this);
}

void SimChildren::signal(std::int64_t pid, int number) {
  auto at = running_.find(pid);
  if (at == running_.end()) {
    return;
  }
  SimProcess& process = *at->second;
  if (number == SIGSTOP || number == SIGCONT) {
    process.frozen_ = number == SIGSTOP;
  } else if (process.handled_.contains(number) && number != SIGKILL) {
    process.signals_.push_back(number);
  } else if (number == SIGKILL || !process.frozen_) {
    process.killed_by_ = number;
    process.killed_.request_stop();
  }
  process.signalled_.notify_all();
}

Task<void> SimChildren::live(std::shared_ptr<SimProcess> process, Script script) {
  Task<ChildExit> task = script(process);
  const ChildExit by_itself = co_await with_stop(process->killed_.token(), std::move(task));
  process->exit_ =
      process->killed_by_ == 0 ? by_itself : ChildExit{.code = 0, .signal = process->killed_by_};
  running_.erase(process->pid());
  process->changed_.notify_all();
}

Task<void> SimChildren::close() {
  co_await group_.close();
}

}  // namespace codeflare
