#include "up/detach.h"

#include "base/async/sleep.h"
#include "base/human_duration.h"
#include "base/split.h"
#include "up/presence.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace codeflare::up {

namespace {

constexpr const char* kThisProgram = "/proc/self/exe";
constexpr Duration kLook = std::chrono::milliseconds(10);
// Its own waits are shorter.
constexpr Duration kReadyWithin = std::chrono::minutes(3);

std::uint64_t size_of(FileSystem& files, const std::string& path) {
  const Result<FileInfo> info = files.info(path);
  return info ? info->size : 0;
}

// Where it stands: ready, still starting, or gone.
struct Seen {
  std::optional<UpState> ready;
  bool alive = false;
};

Seen look(FileSystem& files, const std::string& directory, const std::string& pid) {
  // In this order: one that has become ready and ended since is not missed.
  Seen seen{.ready = {}, .alive = find_process(files, pid).has_value()};
  const Result<std::optional<UpState>> state = read_up_state(files, directory);
  if (state && *state && std::to_string((*state)->process.pid) == pid) {
    seen.ready = **state;
  }
  return seen;
}

Task<Result<std::string>> start(Env env, DetachOptions options) {
  UpPresence presence(env, {.directory = options.directory});
  CO_TRY(co_await run_blocking(
      env, [&] { return env.files.make_directories(options.directory, 0700); }));
  CO_TRY(co_await presence.check_free());
  Command command{.program = kThisProgram, .arguments = std::move(options.arguments)};
  CO_TRY_ASSIGN(CommandResult started, co_await env.launcher.run(std::move(command)));
  if (started.exit_code != 0) {
    co_return fail(internal_error("start failed: " + started.error_output));
  }
  std::string pid = std::move(started.output);
  pid.erase(std::ranges::find(pid, '\n'), pid.end());
  co_return pid;
}

Task<Result<UpState>> wait_until_ready(Env env, std::string directory, std::string pid,
                                       Progress progress) {
  const Instant began = env.clock.now();
  while (true) {
    const Seen seen = co_await run_blocking(env, [&] { return look(env.files, directory, pid); });
    if (seen.ready) {
      co_return *seen.ready;
    }
    const Duration waited = env.clock.now() - began;
    if (!seen.alive) {
      co_return fail(unavailable("codeflare up ended before it was ready"));
    }
    if (waited >= kReadyWithin) {
      co_return fail(deadline_exceeded("the cluster is not ready after " + human_duration(waited) +
                                       " and keeps trying (process " + pid + ")"));
    }
    progress("waiting until the cluster is ready (" + human_duration(waited) + ")");
    CO_TRY(co_await sleep_for(kLook));
  }
}

}  // namespace

std::vector<std::string> background_arguments(std::string_view cmdline, const std::string& log) {
  std::vector<std::string> arguments;
  if (cmdline.ends_with('\0')) {
    cmdline.remove_suffix(1);
  }
  for (const std::string_view word : split(cmdline, '\0')) {
    if (word != "--detach" && !word.starts_with("--detach=")) {
      arguments.emplace_back(word);
    }
  }
  arguments.erase(arguments.begin());  // the program's own name
  arguments.emplace_back("--background");
  arguments.push_back(log);
  return arguments;
}

Task<Detached> run_in_background(Env env, DetachOptions options, Progress progress) {
  const std::string log = options.log;
  std::string directory = options.directory;
  const std::uint64_t before = co_await run_blocking(env, [&] { return size_of(env.files, log); });
  Result<std::string> pid = co_await start(env, std::move(options));
  if (!pid) {
    co_return Detached{.ready = fail(std::move(pid).error())};
  }
  std::string number = *std::move(pid);
  Result<UpState> ready =
      co_await wait_until_ready(env, std::move(directory), std::move(number), std::move(progress));
  Detached detached{.ready = std::move(ready)};
  if (!detached.ready) {
    const Result<std::string> text =
        co_await run_blocking(env, [&] { return env.files.read(log); });
    if (text && text->size() > before) {
      detached.written = text->substr(static_cast<std::size_t>(before));
    }
    detached.ready = fail(std::move(detached.ready).error().with_context("codeflare up"));
  }
  co_return detached;
}

}  // namespace codeflare::up
