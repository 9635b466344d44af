#include "cli/verbs/internal/attach_terminal.h"

#include "base/async/channel.h"
#include "base/async/task_group.h"
#include "cli/session/terminal.h"
#include "cli/verbs/internal/wait_line.h"
#include "cli/views/table.h"
#include "kube/remote_command.h"
#include "sdk/gang_job.h"
#include "sdk/gang_jobs.h"

#include <chrono>
#include <memory>
#include <utility>

namespace codeflare::cli::internal {

namespace {

// Between the last words of the program and the status of its job.
constexpr Duration kEndPatience = std::chrono::minutes(1);

// The program starts with the first line (sdk::RunSpec::terminal), so that none of its output is
// written before this terminal is connected.
class StartLine final : public net::ByteStream {
 public:
  explicit StartLine(net::ByteStream& keys) : keys_(keys) {}
  Task<Result<std::string>> read() override {
    if (!std::exchange(started_, true)) {
      co_return std::string("\n");
    }
    co_return co_await keys_.read();
  }
  Task<Result<void>> write(std::string bytes) override { return keys_.write(std::move(bytes)); }

 private:
  net::ByteStream& keys_;
  bool started_ = false;
};

Task<void> follow_size(Terminal& terminal, WaitList& window, Channel<net::TerminalSize>& sizes) {
  // When the channel is full, a later change brings the size.
  while (co_await window.wait()) {
    static_cast<void>(sizes.try_push(terminal.size()));
  }
}

Task<Result<void>> use_terminal(Session& session, model::ObjectKey pod, WaitList& window) {
  CO_TRY_ASSIGN(const std::unique_ptr<Terminal> terminal, take_terminal(session.env().loop));
  Channel<net::TerminalSize> sizes(16);
  static_cast<void>(sizes.try_push(terminal->size()));
  StartLine input(terminal->input());
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  group.spawn(follow_size(*terminal, window, sizes));
  kube::RemoteCommand command{
      .pod = std::move(pod), .container = std::string(sdk::kGangContainer), .terminal = true};
  const Result<int> end =
      co_await kube::run_command(session.env(), session.service(), std::move(command),
                                 {.input = &input, .output = &terminal->output(), .sizes = &sizes});
  co_await group.close();
  co_return end ? Result<void>() : fail(end.error());
}

}  // namespace

Task<Result<sdk::JobInfo>> attach_terminal(Session& session, std::string name, WaitList& window) {
  const model::ObjectKey key{session.ns(), name};
  const std::unique_ptr<sdk::JobHandle> job = sdk::gang_handle(session.client(), key);
  WaitLine line(session);
  sdk::JobWait until_running{.goal = sdk::JobGoal::running, .observer = [&](const auto& now) {
                               line.show("job/" + name + ": " + one_line(progress_line(now)));
                             }};
  CO_TRY_ASSIGN(sdk::JobInfo now, co_await job->wait(std::move(until_running)));
  line.clear();
  if (has_ended(now.phase)) {
    co_return now;
  }
  CO_TRY_ASSIGN(const std::optional<model::ObjectKey> pod,
                co_await sdk::running_pod(session.client(), key));
  if (pod) {
    CO_TRY(co_await use_terminal(session, *pod, window));
  }
  co_return co_await job->wait({.timeout = kEndPatience});
}

}  // namespace codeflare::cli::internal
