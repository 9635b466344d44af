#include "app/up_role.h"

#include "app/data_directory.h"
#include "app/listen_address.h"
#include "app/real_node.h"
#include "app/up_cluster.h"
#include "base/async/task.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "model/quantity.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

using apiserver::Durability;

constexpr int kUsageError = 2;
constexpr std::size_t kNodesMax = 100'000;

struct Flags {
  std::optional<std::size_t> fake_nodes;
  std::optional<std::string> cpus;
  std::optional<std::string> memory;
  std::string gpus = "0";
  std::vector<std::string> host_paths;
  std::string data_directory;
  std::string listen = "127.0.0.1:6443";
  Durability durability = Durability::full;
  bool legacy_group = false;
  bool preemption = false;
  bool priority_slope = false;
  std::int64_t holding_seconds = 0;
  bool json_log = false;
  bool verbose = false;
  bool egress = false;
};

int report(const Error& error) {
  std::fprintf(stderr, "codeflare: %s\n", error.message.c_str());
  return 1;
}

Result<model::Quantity> amount(const char* flag, const std::string& text) {
  Result<model::Quantity> quantity = model::Quantity::parse(text);
  if (!quantity || quantity->sign() < 0) {
    return fail(invalid_argument(std::string(flag) + " " + text +
                                 ": expected an amount such as 8, 500m or 32Gi"));
  }
  return quantity;
}

Result<UpOptions> options_of(const Flags& flags, const Variables& variables) {
  UpOptions options;
  TRY_ASSIGN(const ListenAddress address, parse_listen("--listen", flags.listen));
  options.address = address.host;
  options.port = address.port;
  options.server.data_directory = flags.data_directory;
  if (flags.data_directory.empty()) {
    TRY_ASSIGN(options.server.data_directory, default_data_directory(variables));
  }
  options.server.durability = flags.durability;
  options.server.certificate_names = {options.address};
  options.nodes.count = flags.fake_nodes.value_or(0);
  TRY_ASSIGN(options.nodes.cpus, amount("--cpus", flags.cpus.value_or("8")));
  TRY_ASSIGN(options.nodes.memory, amount("--memory", flags.memory.value_or("32Gi")));
  TRY_ASSIGN(options.nodes.gpus, amount("--gpus", flags.gpus));
  options.queue.legacy_group = flags.legacy_group;
  options.queue.queue.core.preemption = flags.preemption;
  options.queue.queue.core.priority_slope = flags.priority_slope;
  options.queue.queue.core.holding_time = std::chrono::seconds(flags.holding_seconds);
  return options;
}

// What the node of real processes has: the machine's, unless said otherwise.
RealNodeOptions node_options(const Flags& flags, const UpOptions& options) {
  RealNodeOptions node{.name = "codeflare-0",
                       .directory = join_path(options.server.data_directory, "node"),
                       .version = CODEFLARE_VERSION,
                       .egress = flags.egress};
  if (flags.cpus) {
    node.cpus = options.nodes.cpus;
  }
  if (flags.memory) {
    node.memory = options.nodes.memory;
  }
  node.gpus = options.nodes.gpus;
  node.host_paths = flags.host_paths;
  return node;
}

void say_nodes(const UpOptions& options) {
  if (!options.process_node) {
    std::printf("pods on its %zu nodes only pretend to run; next:\n", options.nodes.count);
    return;
  }
  const node::NodeDescription& about = options.process_node->about;
  const bool networked = !about.pod_block.empty();
  std::printf("node %s: pods are processes of this machine%s%s\n", about.name.c_str(),
              about.not_isolated.empty() ? ", in namespaces of their own" : "",
              networked ? ", with addresses of their own; next:" : ", on its network; next:");
  if (!about.not_isolated.empty()) {
    std::printf(
        "  not isolated, because user namespaces are forbidden here (%s); docs/up.md tells\n"
        "  how to change that\n",
        about.not_isolated.c_str());
  }
}

void say_ready(const UpReady& about, const UpOptions& options, Duration took) {
  const bool six = options.address.find(':') != std::string::npos;
  const std::string host = six ? "[" + options.address + "]" : options.address;
  const std::string& kubeconfig = about.server.kubeconfig_path();
  std::printf(
      "ready https://%s:%d in %lld ms\n", host.c_str(), int{about.port},
      static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  std::printf("kubeconfig %s\n", kubeconfig.c_str());
  say_nodes(options);
  std::printf("  export KUBECONFIG=%s\n  codeflare create -f FILE\n  codeflare queue\n",
              kubeconfig.c_str());
  std::fflush(stdout);
}

Result<std::unique_ptr<RealNode>> make_node(Env env, const Flags& flags, const UpOptions& options,
                                            const Logger& logger) {
  RealNodeOptions node = node_options(flags, options);
  node.logger = logger;
  auto made = run(env.loop, RealNode::make(env, std::move(node)));
  return made ? *std::move(made) : fail(internal_error("deadlock"));
}

int run_role(const Flags& flags) {
  RealEnv world;
  const Env env = world.env();
  const Instant began = env.clock.now();
  Result<UpOptions> options = options_of(flags, env.variables);
  if (!options) {
    report(options.error());
    return kUsageError;
  }
  // Every write of every controller is an info line.
  Logger logger(env.clock, flags.verbose ? LogLevel::info : LogLevel::warn,
                stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text));
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  StopSource stop;
  world.on_signals({SIGINT, SIGTERM}, [&](int) { stop.request_stop(); });
  std::unique_ptr<RealNode> node;
  if (!flags.fake_nodes) {
    Result<std::unique_ptr<RealNode>> made = make_node(env, flags, *options, logger);
    if (!made) {
      return report(made.error());
    }
    node = *std::move(made);
    options->process_node.emplace(node->parts());
  }
  const UpOptions shown = *options;
  const auto end =
      run(env.loop,
          run_up(env, *std::move(options), logger, metrics, stop.token(),
                 [&](const UpReady& about) { say_ready(about, shown, env.clock.now() - began); }));
  if (node != nullptr) {
    run(env.loop, node->stop());
  }
  return end && *end ? 0 : report(end ? end->error() : internal_error("deadlock"));
}

}  // namespace

void add_up_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand("up",
                                      "a whole cluster in this process: API server, queue, Jobs, "
                                      "RayClusters and a node whose pods are processes");
  role->add_option("--fake-nodes", flags->fake_nodes,
                   "instead of a real one, nodes whose pods only pretend to run")
      ->check(CLI::Range(std::size_t{0}, kNodesMax))
      ->type_name("N");
  role->add_option("--cpus", flags->cpus, "of each node (default the machine's; fake nodes: 8)")
      ->type_name("C");
  role->add_option("--memory", flags->memory,
                   "of each node (default the machine's; fake nodes: 32Gi)")
      ->type_name("M");
  role->add_option("--gpus", flags->gpus, "of each node")->type_name("G")->capture_default_str();
  role->add_option("--allow-host-path", flags->host_paths,
                   "a directory that hostPath volumes may name, with all below; may be repeated")
      ->type_name("DIR");
  role->add_option("--data-dir", flags->data_directory,
                   "where everything is kept (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  role->add_flag("--egress", flags->egress,
                 "pods reach the world outside through an HTTP proxy (http_proxy is set for them)");
  role->add_option("--listen", flags->listen, "address and port; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  const std::map<std::string, Durability> durabilities = {
      {"full", Durability::full}, {"relaxed", Durability::relaxed}, {"memory", Durability::memory}};
  role->add_option("--durability", flags->durability, "what survives a power cut, a crash, nothing")
      ->transform(CLI::CheckedTransformer(durabilities, CLI::ignore_case)
                      .description("full|relaxed|memory (default full)"));
  role->add_flag("--legacy-group", flags->legacy_group, "AppWrappers of mcad.ibm.com too");
  role->add_flag("--preemption", flags->preemption,
                 "work of higher priority, and owners of quota, may take places back");
  role->add_flag("--priority-slope", flags->priority_slope,
                 "priority grows by spec.priorityslope a second while waiting");
  role->add_option("--head-of-line-holding-time", flags->holding_seconds,
                   "seconds that the first in line keeps what it waits for from others")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role->add_flag("--log-json", flags->json_log, "log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log every write with its reason");
  role->callback([&chosen, flags] { chosen = [flags] { return run_role(*flags); }; });
}

}  // namespace codeflare
