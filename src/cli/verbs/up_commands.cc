#include "apiserver/store/sqlite_log.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "cli/verbs/commands.h"
#include "cli/verbs/down.h"
#include "cli/verbs/internal/session_flags.h"
#include "cli/views/up_status_view.h"
#include "node/left_behind.h"
#include "up/processes.h"
#include "up/state.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

// `killed`: it did not end by itself, and its pods may go on without it.
int nothing_runs(Console& console, const std::string& directory, bool json, bool killed) {
  if (json) {
    console.out("{\n    \"running\": false\n}\n");
  }
  if (killed) {
    return report(console, not_found("the cluster in " + directory +
                                     " was killed and its pods may still run: codeflare up "
                                     "--detach goes on with them, codeflare down ends them, each "
                                     "with --data-dir " +
                                     directory));
  }
  return report(console,
                not_found("nothing runs in " + directory + ": codeflare up --detach --data-dir " +
                          directory + " starts a cluster there"));
}

Task<Result<std::size_t>> end_left(Env env, std::string directory) {
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

int down(const std::string& given, Duration timeout) {
  RealEnv world;
  const Env env = world.env();
  const std::unique_ptr<Console> console = process_console();
  Result<std::string> directory = up_directory(env.variables, given);
  if (!directory) {
    return report_usage(*console, directory.error().message);
  }
  const std::unique_ptr<Processes> processes = machine_processes(env.files);
  DownFlags flags{.directory = *std::move(directory), .timeout = timeout};
  const EndLeft ending = [env](std::string left) { return end_left(env, std::move(left)); };
  return run(env.loop, run_down(env, *console, *processes, ending, std::move(flags)))
      .value_or(int{kFailed});
}

}  // namespace

int run_up_status(const UpStatusFlags& flags) {
  RealEnv world;
  const Env env = world.env();
  const std::unique_ptr<Console> console = process_console();
  const bool json = flags.output == "json";
  if (!json && !flags.output.empty()) {
    return report_usage(*console, "without KIND NAME status prints text or -o json");
  }
  const Result<std::string> directory = up_directory(env.variables, flags.directory);
  if (!directory) {
    return report_usage(*console, directory.error().message);
  }
  const Result<std::optional<UpState>> state = read_up_state(env.files, *directory);
  if (!state) {
    return report(*console, state.error());
  }
  if (!*state || !is_running(env.files, (*state)->process)) {
    return nothing_runs(*console, *directory, json, state->has_value());
  }
  const Result<std::unique_ptr<Session>> session =
      Session::open(env, *console, {.kubeconfig = (*state)->kubeconfig, .output = flags.output});
  if (!session) {
    return report(*console, session.error());
  }
  return run(env.loop, run_up_status(**session, **state, *directory)).value_or(int{kFailed});
}

void add_up_verbs(CLI::App& app, Chosen& chosen) {
  struct Flags {
    std::string directory;
    Duration timeout{};
  };
  auto own = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("down", "End the cluster that codeflare up runs");
  verb->add_option("--data-dir", own->directory,
                   "where it is kept (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  internal::add_timeout(*verb, own->timeout,
                        "wait no longer until its pods have ended; 0: as long as it takes");
  verb->footer("Example:\n  codeflare down");
  verb->callback([&chosen, own] { chosen = [own] { return down(own->directory, own->timeout); }; });
}

}  // namespace codeflare::cli
