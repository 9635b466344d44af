#include "app/up_role.h"

#include "app/flags/amount.h"
#include "app/flags/durability_flag.h"
#include "app/flags/node_extras_flags.h"
#include "app/flags/node_flags.h"
#include "app/flags/scale_flags.h"
#include "app/flags/training_flags.h"
#include "app/report.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/env/process.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "cli/verbs/detach.h"
#include "kube/kubeconfig.h"
#include "net/listen_address.h"
#include "up/announced.h"
#include "up/cluster.h"
#include "up/machines.h"
#include "up/presence.h"
#include "up/processes.h"
#include "up/real_node.h"
#include "up/service_unit.h"
#include "up/sizes.h"
#include "up/state.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

using apiserver::Durability;

constexpr std::size_t kNodesMax = 100'000;
constexpr std::size_t kProcessNodesMax = 100;
constexpr int kServerThreads = 2;  // commits, and what tidies up behind them

struct Flags {
  std::optional<std::size_t> nodes;
  std::optional<std::size_t> fake_nodes;
  NodeFlags node;  // of each of them
  std::string data_directory;
  std::string listen = "127.0.0.1:6443";
  Durability durability = Durability::full;
  bool legacy_group = false;
  bool preemption = false;
  bool priority_slope = false;
  std::int64_t holding_seconds = 0;
  ElasticFlags elastic;
  ScaleFlags scale;
  bool no_local = false;
  bool no_rayclusters = false;
  std::int64_t patience_seconds = 30;
  bool no_kubeconfig = false;
  bool detach = false;
  bool machine_sizes = false;
  bool install_service = false;
  bool gpus_given = false;
  std::string sizes_note;  // about sizes of the last start
  std::string background;  // a log file

  std::size_t process_nodes() const { return nodes.value_or(fake_nodes ? 0 : 1); }
};

Result<up::UpOptions> options_of(const Flags& flags, const Variables& variables) {
  up::UpOptions options;
  if (flags.process_nodes() == 0 && !flags.fake_nodes) {
    return fail(invalid_argument("--nodes 0: expected 1 to " + std::to_string(kProcessNodesMax) +
                                 ", or --fake-nodes N beside it"));
  }
  TRY_ASSIGN(const net::ListenAddress address, net::parse_listen("--listen", flags.listen));
  options.address = address.host;
  options.port = address.port;
  TRY_ASSIGN(const std::string directory, up::up_directory(variables, flags.data_directory));
  TRY_ASSIGN(options.server.data_directory, up::absolute_path(directory));
  options.server.durability = flags.durability;
  options.server.certificate_names = {options.address};
  // Half of the descriptors are for pods, whatever clients do. The limit stays: pods inherit it.
  options.server.connections_max =
      std::clamp<std::size_t>(descriptor_limit() / 2, 64, options.server.connections_max);
  options.nodes.count = flags.fake_nodes.value_or(0);
  TRY_ASSIGN(options.nodes.cpus, amount("--cpus", flags.node.cpus.value_or("8")));
  TRY_ASSIGN(options.nodes.memory, amount("--memory", flags.node.memory.value_or("32Gi")));
  TRY_ASSIGN(options.nodes.gpus, whole_amount("--gpus", flags.node.gpus));
  TRY_ASSIGN(options.nodes.extras, parse_node_extras(flags.node.extras));
  options.queue.legacy_group = flags.legacy_group;
  options.queue.queue.core.preemption = flags.preemption;
  options.queue.queue.core.priority_slope = flags.priority_slope;
  options.queue.queue.core.holding_time = std::chrono::seconds(flags.holding_seconds);
  flags.elastic.apply(options.queue.queue.core);
  for (const std::string& text : flags.scale.machine_types) {
    TRY_ASSIGN(model::MachineType type, up::parse_machine_type(text));
    options.machine_types.push_back(std::move(type));
  }
  TRY_ASSIGN(options.scale, parse_scale(flags.scale));
  options.queue.machine.dispatch_patience = std::chrono::seconds(flags.patience_seconds);
  options.no_local = flags.no_local;
  options.no_rayclusters = flags.no_rayclusters;
  return options;
}

// The size of the nodes of real processes: the machine's each, unless said otherwise.
up::RealNodeOptions node_options(const Flags& flags, const up::UpOptions& options) {
  up::RealNodeOptions node{.name = up::node_name(0),
                           .directory = join_path(options.server.data_directory, "node"),
                           .version = CODEFLARE_VERSION,
                           .egress = flags.node.egress};
  if (flags.node.cpus) {
    node.cpus = options.nodes.cpus;
  }
  if (flags.node.memory) {
    node.memory = options.nodes.memory;
  }
  node.gpus = options.nodes.gpus;
  node.grows = !options.machine_types.empty();
  node.extras = options.nodes.extras;
  node.host_paths = flags.node.host_paths;
  node.allow_host_network = flags.node.allow_host_network;
  node.allow_plain = flags.node.allow_plain;
  for (std::size_t i = 1; i < flags.process_nodes(); ++i) {
    node.more_names.push_back(up::node_name(i));
  }
  return node;
}

void say_ready(const up::UpState& state) {
  const std::string text = up::render_ready(state);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

int start_in_background(Env env, const std::string& directory) {
  const std::unique_ptr<cli::Console> console = cli::process_console();
  const Result<std::string> cmdline = env.files.read("/proc/self/cmdline");
  if (!cmdline) {
    return report(cmdline.error());
  }
  const std::string log = join_path(directory, "up.log");
  up::DetachOptions options{
      .directory = directory, .log = log, .arguments = up::background_arguments(*cmdline, log)};
  return run(env.loop, cli::run_detached(env, *console, std::move(options))).value_or(1);
}

Result<std::unique_ptr<up::RealNode>> make_node(Env env, const Flags& flags,
                                                const up::UpOptions& options,
                                                const Logger& logger) {
  up::RealNodeOptions node = node_options(flags, options);
  node.logger = logger;
  std::vector<std::string> kubeconfigs;
  // The one that gets a context with the administrator's keys.
  if (Result<std::string> file = kube::kubeconfig_to_edit(env, ""); file && !flags.no_kubeconfig) {
    kubeconfigs.push_back(up::absolute_path(*file).value_or(*file));
  }
  node.private_places = up::private_places(env.variables, kubeconfigs);
  auto made = run(env.loop, up::RealNode::make(env, std::move(node)));
  return made ? *std::move(made) : fail(internal_error("deadlock"));
}

// The sizes that were not typed are those of the last start in the same directory.
Result<void> recall_sizes(Env env, Flags& flags) {
  if (flags.durability == Durability::memory || flags.process_nodes() == 0) {
    return {};
  }
  TRY_ASSIGN(const std::string directory, up::up_directory(env.variables, flags.data_directory));
  up::NodeSizes typed{.cpus = flags.node.cpus, .memory = flags.node.memory};
  if (flags.gpus_given) {
    typed.gpus = flags.node.gpus;
  }
  const up::NodeSizes remembered =
      flags.machine_sizes ? up::NodeSizes() : up::read_sizes(env.files, directory);
  const up::ChosenSizes chosen = up::choose_sizes(typed, remembered);
  flags.node.cpus = chosen.sizes.cpus;
  flags.node.memory = chosen.sizes.memory;
  flags.node.gpus = chosen.sizes.gpus.value_or("0");
  flags.sizes_note = chosen.note;
  return {};
}

// A start that failed before changes nothing.
void keep_sizes(Env env, const Flags& flags, const std::string& directory) {
  if (flags.durability == Durability::memory || flags.process_nodes() == 0) {
    return;
  }
  const up::NodeSizes sizes{
      .cpus = flags.node.cpus,
      .memory = flags.node.memory,
      .gpus = flags.node.gpus == "0" ? std::nullopt : std::optional(flags.node.gpus)};
  static_cast<void>(up::write_sizes(env.files, directory, sizes));
}

int run_cluster(Flags flags) {
  RealEnv world;
  const Env env = world.env();
  const Instant began = env.clock.now();
  if (const Result<void> recalled = recall_sizes(env, flags); !recalled) {
    return report_usage(recalled.error());
  }
  Result<up::UpOptions> options = options_of(flags, env.variables);
  const Result<void> places = up::check_host_paths(env.files, flags.node.host_paths);
  if (!options || !places) {
    return report_usage(options ? places.error() : options.error());
  }
  options->server_blocking = &world.more_threads(kServerThreads);
  if (flags.detach) {
    return start_in_background(env, options->server.data_directory);
  }
  // Every write of every controller is an info line.
  Logger logger(env.clock, flags.node.verbose ? LogLevel::info : LogLevel::warn,
                stderr_log_sink(flags.node.json_log ? LogFormat::json : LogFormat::text));
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  StopSource stop;
  StopSource skip_grace;  // the second time
  world.on_signals({SIGINT, SIGTERM}, [&](int) {
    if (stop.stop_requested()) {
      skip_grace.request_stop();
    }
    stop.request_stop();
  });
  options->skip_grace = skip_grace.token();
  // A closed terminal ends it in good order too, unless nohup says that it should not.
  if (std::signal(SIGHUP, SIG_IGN) != SIG_IGN) {
    world.on_signals({SIGHUP}, [&](int) { stop.request_stop(); });
  }
  up::UpPresence presence(
      env, {.directory = options->server.data_directory, .edit_kubeconfig = !flags.no_kubeconfig});
  // Before anything is started that another one has already.
  if (const auto free = run(env.loop, presence.check_free()); !free || !*free) {
    return report(free ? free->error() : internal_error("deadlock"));
  }
  std::unique_ptr<up::RealNode> node;
  if (flags.process_nodes() > 0) {
    Result<std::unique_ptr<up::RealNode>> made = make_node(env, flags, *options, logger);
    if (!made) {
      return report(made.error());
    }
    node = *std::move(made);
    options->process_node.emplace(node->parts());
  }
  up::UpState state{.version = CODEFLARE_VERSION, .log = flags.background};
  state.about = up::about_nodes(*options);
  if (!flags.sizes_note.empty()) {
    state.about.push_back("sizes: " + flags.sizes_note);
  }
  keep_sizes(env, flags, options->server.data_directory);
  const auto end = run(env.loop, up::run_announced({.env = env,
                                                    .options = *std::move(options),
                                                    .logger = logger,
                                                    .metrics = metrics,
                                                    .stop = stop.token(),
                                                    .presence = presence,
                                                    .state = std::move(state),
                                                    .began = began,
                                                    .ready = say_ready}));
  if (node != nullptr) {
    run(env.loop, node->stop());
  }
  return end && *end ? 0 : report(end ? end->error() : internal_error("deadlock"));
}

int install_service() {
  RealEnv world;
  const Env env = world.env();
  const Result<std::string> cmdline = env.files.read("/proc/self/cmdline");
  const Result<std::string> program = up::own_program();
  if (!cmdline || !program) {
    return report(cmdline ? program.error() : cmdline.error());
  }
  const bool of_user = !up::is_administrator();
  const std::string home = env.variables.get("HOME").value_or("");
  const std::string config = env.variables.get("XDG_CONFIG_HOME").value_or(home + "/.config");
  const std::string path = up::service_unit_path(of_user, config);
  const std::string text = up::service_unit_text(
      {.program = *program, .arguments = up::service_arguments(*cmdline), .of_user = of_user});
  Result<void> written = env.files.make_directories(parent_path(path), 0755);
  if (written) {
    written = env.files.write(path, text, {.mode = 0644});
  }
  if (!written) {
    return report(written.error());
  }
  const char* user = of_user ? " --user" : "";
  std::printf(
      "unit written to %s; to start it now and at every %s:\n  systemctl%s daemon-reload\n"
      "  systemctl%s enable --now codeflare\n",
      path.c_str(), of_user ? "login ('loginctl enable-linger': at every boot)" : "boot", user,
      user);
  return 0;
}

int run_role(Flags flags) {
  if (flags.install_service) {
    return install_service();
  }
  if (!flags.background.empty()) {
    // Before there is a loop: it does not go along.
    if (const Result<void> gone = up::go_to_background(flags.background); !gone) {
      return report(gone.error());
    }
  }
  return run_cluster(std::move(flags));
}

}  // namespace

void add_up_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand(
      "up",
      "Run a local cluster: API server, queue, controllers and a node whose pods are processes");
  role->add_option("--nodes", flags->nodes,
                   "number of nodes whose pods are processes, 1 to 100, on the same machine "
                   "(default 1, or 0 with --fake-nodes)")
      ->check(CLI::Range(std::size_t{0}, kProcessNodesMax))
      ->type_name("N");
  role->add_option("--fake-nodes", flags->fake_nodes,
                   "number of nodes whose pods only pretend to run")
      ->check(CLI::Range(std::size_t{0}, kNodesMax))
      ->type_name("N");
  add_node_size(
      *role, flags->node,
      {.cpus = "CPUs of each node (default: those of the machine; fake nodes: 8)",
       .memory = "memory of each node (default: that of the machine; fake nodes: 32Gi)",
       .gpus = "GPUs of each node",
       .label = "label of each node; may be repeated",
       .resource = "further resource of each node, such as example.com/fpga=2; may be repeated"});
  add_node_permissions(*role, flags->node);
  role->add_option("--data-dir", flags->data_directory,
                   "data directory of the cluster (default $XDG_STATE_HOME/codeflare/up)")
      ->type_name("DIR");
  add_egress(*role, flags->node);
  role->add_option("--listen", flags->listen,
                   "address and port of the API server; port 0 takes any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  add_durability(*role, flags->durability,
                 "durability: full survives a power cut, relaxed a crash, memory nothing");
  role->add_flag("--legacy-group", flags->legacy_group,
                 "serve AppWrappers of mcad.ibm.com as well");
  role->add_flag("--preemption", flags->preemption,
                 "preempt running work for higher priority and for owners of lent quota");
  role->add_flag("--priority-slope", flags->priority_slope,
                 "raise the priority by spec.priorityslope per second of waiting");
  role->add_option("--head-of-line-holding-time", flags->holding_seconds,
                   "seconds that nodes stay reserved for the first in the queue")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  add_elastic_flags(*role, flags->elastic);
  role->add_option("--machine-type", flags->scale.machine_types,
                   "machines that the queue may add, such as big=cpu=8,memory=16Gi,gpus=1,max=3; "
                   "may be repeated")
      ->type_name("NAME=SIZE");
  add_scale_limits(*role, flags->scale);
  role->add_flag("--no-local", flags->no_local,
                 "run AppWrappers on ManagedClusters only, not on nodes of this cluster");
  role->add_flag("--no-rayclusters", flags->no_rayclusters,
                 "ignore RayClusters and RayJobs even without a KubeRay operator");
  role->add_option("--dispatch-patience", flags->patience_seconds,
                   "seconds that a ManagedCluster has to start an AppWrapper before another "
                   "cluster is tried")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("SECONDS")
      ->capture_default_str();
  role->add_flag(
      "--no-kubeconfig", flags->no_kubeconfig,
      "do not add a context to your kubeconfig (the context is removed when the cluster stops)");
  role->add_flag("--detach", flags->detach,
                 "run in the background and return when ready; stop with 'codeflare down'");
  role->add_option("--background", flags->background)->group("");  // what --detach starts
  role->add_flag("--machine-sizes", flags->machine_sizes,
                 "forget --cpus, --memory and --gpus of the last start");
  role->add_flag("--install-service", flags->install_service,
                 "write a systemd unit that runs this command, and start nothing");
  add_node_logging(*role, flags->node);
  role->footer("Example:\n  codeflare up --detach --cpus 2 --memory 4Gi");
  role->callback([&chosen, flags, role] {
    flags->gpus_given = role->get_option("--gpus")->count() > 0;
    chosen = [flags] { return run_role(*flags); };
  });
}

}  // namespace codeflare
