#include "cli/verbs/down.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "up/presence.h"

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

Task<Result<std::size_t>> end_left_within(Console& console, EndLeft end_left, DownFlags flags) {
  ProgressLine progress(console);
  progress.show("waiting until the pods that codeflare up has left have ended");
  Task<Result<std::size_t>> ending = end_left(std::move(flags.directory));
  if (flags.timeout <= Duration::zero()) {
    co_return co_await std::move(ending);
  }
  co_return co_await with_timeout(flags.timeout, "the end of the pods that codeflare up has left",
                                  std::move(ending));
}

std::string was_killed(const UpState& state, std::size_t pods) {
  std::string text = "codeflare up (process " + std::to_string(state.process.pid) + ") was killed";
  if (pods == 0) {
    return text + ", and has left no pods";
  }
  return text + (pods == 1 ? ": the pod that it left has ended"
                           : ": the " + std::to_string(pods) + " pods that it left have ended");
}

// What a cluster that was killed has left. Nothing is known of it when that was before it had
// said something of itself, or because it could not go on.
Task<int> tidy_up(Env env, Console& console, EndLeft end_left, DownFlags flags,
                  std::optional<UpState> state) {
  const std::string directory = flags.directory;
  const Result<std::size_t> pods =
      co_await end_left_within(console, std::move(end_left), std::move(flags));
  if (!pods) {
    co_return report(console, pods.error());
  }
  if (!state && *pods == 0) {
    co_return report(console, not_found("nothing runs in " + directory));
  }
  std::string what = "pods that were left have ended";
  if (state) {
    what = was_killed(*state, *pods);
    const Result<void> forgotten = co_await forget_up(env, directory, *std::move(state));
    if (!forgotten) {
      co_return report(console, forgotten.error());
    }
  }
  console.out(what + "; what was in " + directory + " is there again at the next start\n");
  co_return kDone;
}

}  // namespace

Task<int> run_down(Env env, Console& console, Processes& processes, EndLeft end_left,
                   DownFlags flags) {
  std::string directory = flags.directory;
  Result<std::optional<UpState>> state = co_await state_of(env, std::move(directory));
  if (!state) {
    co_return report(console, state.error());
  }
  Result<void> asked = fail(not_found("no process"));
  if (*state) {
    asked = processes.ask_to_end((*state)->process);
  }
  if (!asked && asked.error().code == ErrorCode::not_found) {
    co_return co_await tidy_up(env, console, std::move(end_left), std::move(flags),
                               *std::move(state));
  }
  const UpState running = **state;
  if (asked) {
    UpState copy = running;
    asked = co_await wait_until_gone(env, console, std::move(copy), flags.timeout);
  }
  if (!asked) {
    co_return report(console, asked.error());
  }
  // It takes everything away itself, unless somebody killed it meanwhile.
  directory = flags.directory;
  Result<std::optional<UpState>> left = co_await state_of(env, std::move(directory));
  if (left && *left && (*left)->process == running.process) {
    co_return co_await tidy_up(env, console, std::move(end_left), std::move(flags),
                               *std::move(left));
  }
  console.out("stopped; what was in " + flags.directory + " is there again at the next start\n");
  co_return kDone;
}

}  // namespace codeflare::cli
