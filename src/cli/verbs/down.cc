#include "cli/verbs/down.h"

#include "base/env/real_env.h"
#include "cli/verbs/internal/local_cluster.h"
#include "cli/verbs/internal/session_flags.h"

#include <memory>
#include <string>
#include <utility>

namespace codeflare::cli {

namespace {

struct Flags {
  std::string directory;
  Duration timeout{};
};

int down(const Flags& flags) {
  RealEnv world;
  const Env env = world.env();
  const std::unique_ptr<Console> console = process_console();
  Result<std::string> directory = internal::local_directory(env, *console, flags.directory);
  if (!directory) {
    return report_usage(*console, directory.error().message);
  }
  const std::unique_ptr<up::Processes> processes = up::machine_processes(env.files);
  up::EndOptions options{.directory = *std::move(directory), .timeout = flags.timeout};
  const up::EndLeft ending = [env](std::string left) {
    return up::end_left_pods(env, std::move(left));
  };
  return run(env.loop, run_down(env, *console, *processes, ending, std::move(options)))
      .value_or(int{kFailed});
}

std::string ended_text(const up::Ended& ended) {
  if (!ended.killed) {
    return "stopped";
  }
  if (!ended.state) {
    return "stopped the pods of an earlier start";
  }
  std::string text =
      "codeflare up (process " + std::to_string(ended.state->process.pid) + ") was killed";
  if (ended.pods == 0) {
    return text + "; no pods were left";
  }
  return text + (ended.pods == 1 ? "; its pod was stopped"
                                 : "; its " + std::to_string(ended.pods) + " pods were stopped");
}

void add_options(CLI::App& verb, Chosen& chosen) {
  auto flags = std::make_shared<Flags>();
  verb.add_option("--data-dir", flags->directory,
                  "data directory of the cluster (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  internal::add_timeout(verb, flags->timeout, "time limit for pods to end; 0: none");
  verb.callback([&chosen, flags] { chosen = [flags] { return down(*flags); }; });
}

}  // namespace

constinit const Verb kDown = {.word = "down",
                              .about = "Stop the cluster of 'codeflare up'",
                              .examples = "codeflare down",
                              .add = add_options};

Task<int> run_down(Env env, Console& console, up::Processes& processes, up::EndLeft end_left,
                   up::EndOptions options) {
  const std::string directory = options.directory;
  ProgressLine line(console);
  up::Progress progress = [&line](const std::string& text) { line.show(text); };
  const Result<up::Ended> ended = co_await up::end_cluster(env, processes, std::move(end_left),
                                                           std::move(options), std::move(progress));
  line.clear();
  if (!ended) {
    // Nothing to stop is 1, as for `status`.
    const int code = report(console, ended.error());
    co_return code == kNotFound ? int{kFailed} : code;
  }
  console.out(ended_text(*ended) + " (data is kept in " + directory + ")\n");
  co_return kDone;
}

}  // namespace codeflare::cli
