#include "up/end_cluster.h"

#include "apiserver/store/sqlite_log.h"
#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "base/log.h"
#include "node/agent/left_behind.h"
#include "up/presence.h"

#include <memory>
#include <optional>
#include <utility>

namespace codeflare::up {

namespace {

constexpr Duration kLook = std::chrono::milliseconds(50);

Task<bool> runs(Env env, ProcessId process) {
  return run_blocking(env, [env, process] { return is_running(env.files, process); });
}

Task<Result<std::optional<UpState>>> state_of(Env env, std::string directory) {
  return run_blocking(
      env, [env, directory = std::move(directory)] { return read_up_state(env.files, directory); });
}

Task<Result<void>> wait_until_gone(Env env, UpState state, Duration timeout, Progress progress) {
  const Instant began = env.clock.now();
  while (co_await runs(env, state.process)) {
    const Duration waited = env.clock.now() - began;
    if (timeout > Duration::zero() && waited >= timeout) {
      co_return fail(deadline_exceeded("codeflare up (process " +
                                       std::to_string(state.process.pid) +
                                       ") is still stopping pods after " + human_duration(waited)));
    }
    progress("waiting until codeflare up (process " + std::to_string(state.process.pid) +
             ") has stopped its pods (" + human_duration(waited) + ")");
    CO_TRY(co_await sleep_for(kLook));
  }
  co_return Result<void>();
}

Task<Result<std::size_t>> end_left_within(EndLeft end_left, EndOptions options, Progress progress) {
  progress("waiting until the pods of an earlier start have ended");
  Task<Result<std::size_t>> ending = end_left(std::move(options.directory));
  if (options.timeout <= Duration::zero()) {
    co_return co_await std::move(ending);
  }
  co_return co_await with_timeout(options.timeout, "stopping the pods of an earlier start",
                                  std::move(ending));
}

// The rest of a cluster that was killed. Nothing is known of it when that was before it had said
// something of itself, or because it could not go on.
Task<Result<Ended>> tidy_up(Env env, EndLeft end_left, EndOptions options,
                            std::optional<UpState> state, Progress progress) {
  const std::string directory = options.directory;
  Ended ended{.killed = true, .state = state};
  CO_TRY_ASSIGN(ended.pods, co_await end_left_within(std::move(end_left), std::move(options),
                                                     std::move(progress)));
  if (!state && ended.pods == 0) {
    co_return fail(not_found("no cluster runs in " + directory));
  }
  if (state) {
    CO_TRY(co_await forget_up(env, directory, *std::move(state)));
  }
  co_return ended;
}

}  // namespace

Task<Result<std::size_t>> end_left_pods(Env env, std::string directory) {
  const std::string node = join_path(directory, "node");
  if (!co_await run_blocking(env, [&] { return env.files.exists(node); })) {
    co_return std::size_t{0};
  }
  // Nobody may be starting a cluster here, who would adopt what is ended.
  CO_TRY_ASSIGN(const std::unique_ptr<FileLock> lock, co_await run_blocking(env, [&] {
                  return apiserver::lock_data_directory(env.files, directory);
                }));
  const Logger logger(env.clock, LogLevel::warn, stderr_log_sink(LogFormat::text));
  co_return co_await node::end_left_behind(env, node, logger);
}

Task<Result<Ended>> end_cluster(Env env, Processes& processes, EndLeft end_left, EndOptions options,
                                Progress progress) {
  std::string directory = options.directory;
  CO_TRY_ASSIGN(std::optional<UpState> state, co_await state_of(env, std::move(directory)));
  Result<void> asked = fail(not_found("no process"));
  if (state) {
    asked = processes.ask_to_end(state->process);
  }
  if (!asked && asked.error().code == ErrorCode::not_found) {
    co_return co_await tidy_up(env, std::move(end_left), std::move(options), std::move(state),
                               std::move(progress));
  }
  CO_TRY(std::move(asked));
  UpState running = *std::move(state);
  const ProcessId process = running.process;
  CO_TRY(co_await wait_until_gone(env, std::move(running), options.timeout, progress));
  // It takes everything away itself, unless somebody killed it meanwhile.
  directory = options.directory;
  Result<std::optional<UpState>> left = co_await state_of(env, std::move(directory));
  if (left && *left && (*left)->process == process) {
    co_return co_await tidy_up(env, std::move(end_left), std::move(options), *std::move(left),
                               std::move(progress));
  }
  co_return Ended();
}

}  // namespace codeflare::up
