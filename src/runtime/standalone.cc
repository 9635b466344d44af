#include "runtime/standalone.h"

#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/connect.h"

#include <csignal>

namespace codeflare::runtime {

int run_standalone(const StandaloneOptions& options, const std::function<void(Manager&)>& wire) {
  RealEnv world;
  Env env = world.env();
  Logger log(env.clock, LogLevel::info, stderr_log_sink(LogFormat::text));
  MetricsRegistry metrics;

  auto config = kube::load_config(env);
  if (!config) {
    log.error("no cluster to talk to", {{"error", config.error()}});
    return 1;
  }
  for (const std::string& warning : config->warnings) {
    log.warn("kubeconfig", {{"warning", warning}});
  }
  auto connection = kube::connect(env, *config);
  if (!connection) {
    log.error("cannot connect", {{"error", connection.error()}});
    return 1;
  }
  kube::Client client(env, (*connection)->service(), {.user_agent = options.name});

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
