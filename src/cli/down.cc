#include "cli/down.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "cli/up_presence.h"

#include <optional>
#include <utility>

namespace codeflare::cli {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);

Task<bool> runs(Env env, ProcessId process) {
  return run_blocking(env, [env, process] { return is_running(env.files, process); });
}

Task<Result<std::optional<UpState>>> state_of(Env env, std::string directory) {
  return run_blocking(
      env, [env, directory = std::move(directory)] { return read_up_state(env.files, directory); });
}

Task<Result<void>> wait_until_gone(Env env, Console& console, UpState state, Duration timeout) {
  ProgressLine progress(console);
  const Instant began = env.clock.now();
  while (co_await runs(env, state.process)) {
    const Duration waited = env.clock.now() - began;
    if (timeout > Duration::zero() && waited >= timeout) {
      co_return fail(deadline_exceeded("codeflare up (process " +
                                       std::to_string(state.process.pid) +
                                       ") still ends its pods after " + human_duration(waited)));
    }
    progress.show("waiting until codeflare up (process " + std::to_string(state.process.pid) +
                  ") has ended its pods (" + human_duration(waited) + ")");
    CO_TRY(co_await sleep_for(kLook));
  }
  co_return Result<void>();
}

// What a cluster that was killed has left.
Task<int> tidy_up(Env env, Console& console, std::string directory, UpState state) {
  const std::string who = "codeflare up (process " + std::to_string(state.process.pid) + ")";
  const AddedContext context = state.context;
  const Result<void> forgotten = co_await forget_up(env, directory, std::move(state));
  if (!forgotten) {
    co_return report(console, forgotten.error());
  }
  if (!context.name.empty()) {
    console.err("context " + context.name + " was taken out of " + context.file + "\n");
  }
  co_return report(console, not_found("nothing runs in " + directory + ": " + who +
                                      " was killed. Pods that it left go on; codeflare up "
                                      "takes them over"));
}

}  // namespace

Task<int> run_down(Env env, Console& console, Processes& processes, DownFlags flags) {
  std::string directory = flags.directory;
  const Result<std::optional<UpState>> state = co_await state_of(env, std::move(directory));
  if (!state) {
    co_return report(console, state.error());
  }
  if (!*state) {
    co_return report(console, not_found("nothing runs in " + flags.directory));
  }
  UpState running = **state;
  Result<void> asked = processes.ask_to_end(running.process);
  if (!asked && asked.error().code == ErrorCode::not_found) {
    co_return co_await tidy_up(env, console, std::move(flags.directory), std::move(running));
  }
  if (asked) {
    UpState copy = running;
    asked = co_await wait_until_gone(env, console, std::move(copy), flags.timeout);
  }
  if (!asked) {
    co_return report(console, asked.error());
  }
  // It takes everything away itself, unless somebody killed it meanwhile.
  directory = flags.directory;
  const Result<std::optional<UpState>> left = co_await state_of(env, std::move(directory));
  if (left && *left && (*left)->process == running.process) {
    directory = flags.directory;
    const Result<void> forgotten =
        co_await forget_up(env, std::move(directory), std::move(running));
    if (!forgotten) {
      co_return report(console, forgotten.error());
    }
  }
  console.out("stopped; what was in " + flags.directory + " is there again at the next start\n");
  co_return kDone;
}

}  // namespace codeflare::cli
