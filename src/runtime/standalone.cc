#include "runtime/standalone.h"

#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/connect.h"

#include <csignal>
#include <cstdio>
#include <string_view>

namespace codeflare::runtime {

namespace {

struct Flags {
  kube::ConfigOptions config;
  bool help = false;
};

Result<Flags> parse_flags(int argc, const char* const* argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string_view name = word.substr(0, word.find('='));
    if (word == "--help" || word == "-h") {
      flags.help = true;
    } else if (name != "--kubeconfig" && name != "--context") {
      return fail(invalid_argument("not expected: " + std::string(word)));
    } else if (name == word && i + 1 == argc) {
      return fail(invalid_argument(std::string(name) + " needs a value"));
    } else {
      std::string& value = name == "--context" ? flags.config.context : flags.config.explicit_path;
      value = name == word ? argv[++i] : word.substr(name.size() + 1);
    }
  }
  return flags;
}

}  // namespace

int run_standalone(int argc, const char* const* argv, const StandaloneOptions& options,
                   const std::function<void(Manager&)>& wire) {
  constexpr int kUsageError = 2;
  const Result<Flags> flags = parse_flags(argc, argv);
  if (!flags) {
    std::fprintf(stderr, "error: %s\nRun '%s --help' for usage.\n", flags.error().message.c_str(),
                 options.name.c_str());
    return kUsageError;
  }
  if (flags->help) {
    std::printf(
        "Usage: %s [--kubeconfig FILE] [--context NAME]\n"
        "Without --kubeconfig: KUBECONFIG, the pod's service account, ~/.kube/config.\n",
        options.name.c_str());
    return 0;
  }
  RealEnv world;
  Env env = world.env();
  Logger log(env.clock, LogLevel::info, stderr_log_sink(LogFormat::text));
  MetricsRegistry metrics;
  add_process_metrics(metrics);

  auto config = kube::load_config(env, flags->config);
  if (!config) {
    log.error("no cluster to talk to", {{"error", config.error()}});
    return 1;
  }
  for (const std::string& warning : config->warnings) {
    log.warn("kubeconfig", {{"warning", warning}});
  }
  auto connection = kube::connect(env, *config, {.user_agent = options.name});
  if (!connection) {
    log.error("cannot connect", {{"error", connection.error()}});
    return 1;
  }
  kube::Client client(env, (*connection)->service(),
                      {.user_agent = options.name,
                       .host = (*connection)->host(),
                       .logger = &log,
                       .metrics = &metrics});

  ManagerOptions manager_options{.name = options.name,
                                 .health_address = options.health_address,
                                 .logger = log,
                                 .metrics = &metrics};
  if (options.leader_election) {
    manager_options.leader = {
        .ns = config->ns, .name = options.name, .identity = env.random.uuid()};
  }
  Manager manager(env, client, std::move(manager_options));
  wire(manager);

  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  auto end = run(env.loop, manager.run(), stop.token());
  if (!end || !*end) {
    log.error("ended", {{"error", end ? end->error() : internal_error("deadlock")}});
    return 1;
  }
  return 0;
}

}  // namespace codeflare::runtime
