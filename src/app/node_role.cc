#include "app/node_role.h"

#include "app/flags/amount.h"
#include "app/flags/node_extras_flags.h"
#include "app/report.h"
#include "base/async/task.h"
#include "base/async/task_group.h"
#include "base/async/wait_list.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "kube/connect.h"
#include "kube/kubeconfig.h"
#include "kube/typed.h"
#include "model/codec/service.h"
#include "model/resources.h"
#include "net/tcp_relay.h"
#include "net/url.h"
#include "node/net/service_feed.h"
#include "runtime/manager.h"
#include "up/node.h"
#include "up/processes.h"
#include "up/real_node.h"
#include "up/state.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare {

namespace {

constexpr const char* kName = "codeflare-node";

struct Flags {
  bool join = false;
  std::string kubeconfig;
  std::string context;
  std::string name;
  std::string data_directory;
  std::optional<std::string> cpus;
  std::optional<std::string> memory;
  std::string gpus = "0";
  NodeExtrasFlags extras;
  std::vector<std::string> host_paths;
  bool egress = false;
  bool allow_host_network = false;
  bool allow_plain = false;
  bool no_taint = false;
  bool json_log = false;
  bool verbose = false;
};

// The machine's own name, as a node may be called.
std::string host_name(FileSystem& files) {
  std::string name = files.read("/proc/sys/kernel/hostname").value_or("codeflare");
  name.erase(name.find_last_not_of(" \n") + 1);
  for (char& c : name) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// Those that the node's own keys may be in.
std::vector<std::string> kubeconfigs_of(const Flags& flags, Env env) {
  std::vector<std::string> files =
      kube::split_kubeconfig_list(env.variables.get("KUBECONFIG").value_or(""));
  if (const Result<std::string> file = kube::kubeconfig_to_edit(env, flags.kubeconfig)) {
    files.push_back(*file);
  }
  for (std::string& file : files) {
    file = cli::absolute_path(file).value_or(file);
  }
  return files;
}

Result<RealNodeOptions> options_of(const Flags& flags, Env env) {
  RealNodeOptions options{.name = flags.name.empty() ? host_name(env.files) : flags.name,
                          .directory = {},
                          .version = CODEFLARE_VERSION,
                          .joins = true,
                          .egress = flags.egress,
                          .host_paths = flags.host_paths,
                          .allow_host_network = flags.allow_host_network,
                          .allow_plain = flags.allow_plain};
  TRY(check_host_paths(env.files, flags.host_paths));
  // Beside those of `codeflare up`: both may run on one machine.
  TRY_ASSIGN(const std::string usual, cli::up_directory(env.variables, ""));
  const std::string given = flags.data_directory.empty()
                                ? join_path(parent_path(usual), "node/" + options.name)
                                : flags.data_directory;
  TRY_ASSIGN(const std::string directory, cli::absolute_path(given));
  options.directory = join_path(directory, "node");
  options.private_places = cli::private_places(env.variables, kubeconfigs_of(flags, env));
  if (flags.cpus) {
    TRY_ASSIGN(options.cpus, amount("--cpus", *flags.cpus));
  }
  if (flags.memory) {
    TRY_ASSIGN(options.memory, amount("--memory", *flags.memory));
  }
  TRY_ASSIGN(options.gpus, whole_amount("--gpus", flags.gpus));
  TRY_ASSIGN(options.extras, parse_node_extras(flags.extras));
  if (!flags.no_taint) {
    options.taints.push_back(
        {.key = std::string(node::kProcessLabel), .value = "true", .effect = "NoSchedule"});
  }
  return options;
}

// How the controllers' end came about.
struct Work {
  std::optional<Result<void>> end;
  WaitList changed;
};

Task<void> run_manager(runtime::Manager& manager, Work& work) {
  work.end = co_await manager.run();
  work.changed.notify_all();
}

struct Join {
  Env env;
  kube::Client& client;
  ProcessNode node;
  std::string server;
  Logger logger;
  MetricsRegistry& metrics;
  StopToken stop;
  StopToken hurry;
};

// Where clients in pods look for the API server.
Task<Result<ServerPlaces>> find_places(const Join& join) {
  CO_TRY_ASSIGN(const net::Url server, net::parse_url(join.server));
  ServerPlaces places{.address = server.host, .port = server.port};
  if (join.node.network == nullptr) {
    co_return places;
  }
  kube::Api<model::Service> services(join.client, "default");
  CO_TRY_ASSIGN(const model::Service service, co_await services.get("kubernetes"));
  places.cluster_address = service.spec.cluster_ip;
  if (!service.spec.ports.empty()) {
    places.cluster_port = static_cast<std::uint16_t>(service.spec.ports.front().port);
  }
  co_return places;
}

// The Node is there, pods of an earlier run are known, and those to come find the API server: where
// they have a network of their own, at its cluster address, by a relay in `group`.
Task<Result<void>> begin(const Join& join, UpNodes& node, TaskGroup& group) {
  CO_TRY(co_await node.prepare(nullptr));
  CO_TRY_ASSIGN(const ServerPlaces places, co_await find_places(join));
  node.serve_at(places);
  if (join.node.network != nullptr) {
    CO_TRY_ASSIGN(FileDescriptor listener,
                  co_await join.node.network->listen(places.cluster_address, places.cluster_port));
    group.spawn(net::relay_connections(join.env, std::move(listener), places.address, places.port));
  }
  co_return Result<void>();
}

void say_joined(const Join& join) {
  const node::NodeDescription& about = join.node.about;
  std::printf("joined %s as node %s\n", join.server.c_str(), about.name.c_str());
  if (join.node.network == nullptr) {
    std::printf("  pods share this machine's network: %s; docs/up.md tells how to change that\n",
                about.no_network.c_str());
  }
  std::fflush(stdout);
}

Task<Result<void>> serve(Join join) {
  runtime::Manager manager(join.env, join.client,
                           {.name = kName, .logger = join.logger, .metrics = &join.metrics});
  UpNodes node(join.env, join.node, manager, join.logger);
  if (join.node.network != nullptr) {
    node::add_service_feed(manager, *join.node.network, join.node.about.name);
  }
  TaskGroup group(join.env.loop);
  if (const Result<void> begun = co_await begin(join, node, group); !begun) {
    co_await node.leave();
    co_await group.close();
    co_return begun;
  }
  Work work;
  group.spawn(run_manager(manager, work));
  node.keep_alive(group);
  say_joined(join);
  StopCallback on_stop(join.stop, [&] { work.changed.notify_all(); });
  while (!join.stop.stop_requested() && !work.end) {
    co_await work.changed.wait_uncancellable();
  }
  Result<void> stopped;
  const bool asked = join.stop.stop_requested();
  if (asked) {
    StopCallback on_hurry(join.hurry, [&] { node.hurry(); });
    stopped = co_await node.stop();
  } else {
    co_await node.leave();
  }
  co_await group.close();
  co_return asked ? stopped : *work.end;
}

int run_node(const Flags& flags) {
  RealEnv world;
  const Env env = world.env();
  Logger logger(env.clock, flags.verbose ? LogLevel::info : LogLevel::warn,
                stderr_log_sink(flags.json_log ? LogFormat::json : LogFormat::text));
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  Result<RealNodeOptions> options = options_of(flags, env);
  if (!options) {
    return report_usage(options.error());
  }
  Result<kube::Config> config = kube::load_config(
      env, {.explicit_path = flags.kubeconfig, .context = flags.context, .ns = {}});
  if (!config) {
    return report(config.error());
  }
  for (const std::string& warning : config->warnings) {
    logger.warn("kubeconfig", {{"warning", warning}});
  }
  const std::string server = config->server;
  auto connection = kube::connect(env, *std::move(config), {.user_agent = kName});
  if (!connection) {
    return report(connection.error());
  }
  kube::Client client(env, (*connection)->service(),
                      {.user_agent = kName, .logger = &logger, .metrics = &metrics});
  StopSource stop;
  StopSource hurry;  // the second time
  world.on_signals({SIGINT, SIGTERM}, [&](int) {
    if (stop.stop_requested()) {
      hurry.request_stop();
    }
    stop.request_stop();
  });
  options->logger = logger;
  auto made = run(env.loop, RealNode::make(env, *std::move(options)));
  if (!made || !*made) {
    return report(made ? made->error() : internal_error("deadlock"));
  }
  ProcessNode node = (**made)->parts();
  node.claims_directory.clear();  // who binds claims there is not us
  const auto end = run(env.loop, serve({.env = env,
                                        .client = client,
                                        .node = std::move(node),
                                        .server = server,
                                        .logger = logger,
                                        .metrics = metrics,
                                        .stop = stop.token(),
                                        .hurry = hurry.token()}));
  run(env.loop, (**made)->stop());
  return end && *end ? 0 : report(end ? end->error() : internal_error("deadlock"));
}

}  // namespace

void add_node_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand(
      "node", "a node of a Kubernetes cluster whose pods are processes of this machine");
  role->add_flag("--join", flags->join, "the cluster of the kubeconfig")->required();
  role->add_option("--kubeconfig", flags->kubeconfig,
                   "file; else KUBECONFIG, the pod's service account, ~/.kube/config")
      ->type_name("FILE");
  role->add_option("--context", flags->context, "of the kubeconfig")->type_name("NAME");
  role->add_option("--name", flags->name, "of the node (default the machine's)")->type_name("NAME");
  role->add_option("--data-dir", flags->data_directory,
                   "where its pods are kept (default $XDG_STATE_HOME/codeflare/node/NAME)")
      ->type_name("DIR");
  role->add_option("--cpus", flags->cpus, "(default the machine's)")->type_name("C");
  role->add_option("--memory", flags->memory, "(default the machine's)")->type_name("M");
  role->add_option("--gpus", flags->gpus, "that pods get by number")
      ->type_name("G")
      ->capture_default_str();
  role->add_option("--label", flags->extras.labels, "of the node; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  role->add_option("--resource", flags->extras.resources,
                   "that it has too, such as example.com/fpga=2; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME=AMOUNT");
  role->add_flag("--egress", flags->egress,
                 "pods reach the world outside through an HTTP proxy (http_proxy is set for them)");
  role->add_flag("--allow-host-network", flags->allow_host_network,
                 "pods may say hostNetwork: true, and have the machine's network and loopback");
  role->add_flag("--allow-plain-processes", flags->allow_plain,
                 "start also when pods cannot be isolated any more as they were before");
  role->add_option("--allow-host-path", flags->host_paths,
                   "a directory that hostPath volumes may name, with all below; may be repeated")
      ->type_name("DIR");
  role->add_flag("--no-taint", flags->no_taint,
                 "let any pod come: else only those that tolerate codeflare.dev/process-node, "
                 "because its pod network is this machine's alone");
  role->add_flag("--log-json", flags->json_log, "log lines as JSON");
  role->add_flag("-v,--verbose", flags->verbose, "log every write with its reason");
  role->footer("Example:\n  codeflare node --join --kubeconfig admin.conf --gpus 4");
  role->callback([&chosen, flags] { chosen = [flags] { return run_node(*flags); }; });
}

}  // namespace codeflare
