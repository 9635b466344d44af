#include "app/node_role.h"

#include "apiserver/identity/pki.h"
#include "app/flags/amount.h"
#include "app/flags/node_extras_flags.h"
#include "app/flags/node_flags.h"
#include "app/report.h"
#include "base/async/task.h"
#include "base/env/process_metrics.h"
#include "base/env/real_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/connect.h"
#include "kube/kubeconfig.h"
#include "net/listen_address.h"
#include "up/join.h"
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
  NodeFlags node;
  bool no_taint = false;
  std::string kubelet_client_ca;
  std::string kubelet_address;
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

// Files that the node's own keys may be in.
std::vector<std::string> kubeconfigs_of(const Flags& flags, Env env) {
  std::vector<std::string> files =
      kube::split_kubeconfig_list(env.variables.get("KUBECONFIG").value_or(""));
  if (const Result<std::string> file = kube::kubeconfig_to_edit(env, flags.kubeconfig)) {
    files.push_back(*file);
  }
  for (std::string& file : files) {
    file = up::absolute_path(file).value_or(file);
  }
  return files;
}

Result<up::RealNodeOptions> options_of(const Flags& flags, Env env) {
  up::RealNodeOptions options{.name = flags.name.empty() ? host_name(env.files) : flags.name,
                              .directory = {},
                              .version = CODEFLARE_VERSION,
                              .joins = true,
                              .egress = flags.node.egress,
                              .host_paths = flags.node.host_paths,
                              .allow_host_network = flags.node.allow_host_network,
                              .allow_plain = flags.node.allow_plain};
  TRY(up::check_host_paths(env.files, flags.node.host_paths));
  // Beside those of `codeflare up`: both may run on one machine.
  TRY_ASSIGN(const std::string usual, up::up_directory(env.variables, ""));
  const std::string given = flags.data_directory.empty()
                                ? join_path(parent_path(usual), "node/" + options.name)
                                : flags.data_directory;
  TRY_ASSIGN(const std::string directory, up::absolute_path(given));
  options.directory = join_path(directory, "node");
  options.private_places = up::private_places(env.variables, kubeconfigs_of(flags, env));
  if (flags.node.cpus) {
    TRY_ASSIGN(options.cpus, amount("--cpus", *flags.node.cpus));
  }
  if (flags.node.memory) {
    TRY_ASSIGN(options.memory, amount("--memory", *flags.node.memory));
  }
  TRY_ASSIGN(options.gpus, whole_amount("--gpus", flags.node.gpus));
  TRY_ASSIGN(options.extras, parse_node_extras(flags.node.extras));
  if (!flags.no_taint) {
    options.taints.push_back(
        {.key = std::string(node::kProcessLabel), .value = "true", .effect = "NoSchedule"});
  }
  return options;
}

// The kubelet's port, with a certificate of an authority of its own in the data directory.
Task<Result<std::optional<up::KubeletPort>>> kubelet_port(Flags flags, Env env,
                                                          std::string directory,
                                                          node::NodeDescription about,
                                                          Logger logger) {
  if (flags.kubelet_client_ca.empty()) {
    co_return flags.kubelet_address.empty()
        ? Result<std::optional<up::KubeletPort>>(std::nullopt)
        : fail(invalid_argument("--kubelet-address: needs --kubelet-client-ca"));
  }
  up::KubeletPort kubelet{.address = about.address, .tls = {}};
  if (!flags.kubelet_address.empty()) {
    CO_TRY_ASSIGN(const net::ListenAddress at,
                  net::parse_listen("--kubelet-address", flags.kubelet_address));
    kubelet.address = at.host;
    kubelet.port = at.port;
  }
  CO_TRY_ASSIGN(const std::string authority, env.files.read(flags.kubelet_client_ca));
  apiserver::Pki::Options options{.directory = join_path(directory, "kubelet-pki"),
                                  .names = {kubelet.address, about.name}};
  CO_TRY_ASSIGN(const std::unique_ptr<apiserver::Pki> pki,
                co_await apiserver::Pki::open(env, std::move(options), logger));
  kubelet.tls = pki->tls();
  kubelet.tls.client_ca_pem = authority;
  co_return std::optional(std::move(kubelet));
}

void say_joined(const std::string& server, const up::ProcessNode& node) {
  const node::NodeDescription& about = node.about;
  std::printf("joined %s as node %s\n", server.c_str(), about.name.c_str());
  if (node.network == nullptr) {
    std::printf("  pods share this machine's network: %s; see docs/up.md to change that\n",
                about.no_network.c_str());
  }
  std::fflush(stdout);
}

int run_node(const Flags& flags) {
  RealEnv world;
  const Env env = world.env();
  Logger logger(env.clock, flags.node.verbose ? LogLevel::info : LogLevel::warn,
                stderr_log_sink(flags.node.json_log ? LogFormat::json : LogFormat::text));
  MetricsRegistry metrics;
  add_process_metrics(metrics);
  Result<up::RealNodeOptions> options = options_of(flags, env);
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
  StopSource skip_grace;  // the second time
  world.on_signals({SIGINT, SIGTERM}, [&](int) {
    if (stop.stop_requested()) {
      skip_grace.request_stop();
    }
    stop.request_stop();
  });
  options->logger = logger;
  const std::string directory = options->directory;
  auto made = run(env.loop, up::RealNode::make(env, *std::move(options)));
  if (!made || !*made) {
    return report(made ? made->error() : internal_error("deadlock"));
  }
  up::ProcessNode node = (**made)->parts();
  node.claims_directory.clear();  // who binds claims there is not us
  const auto joined = [&server](const up::ProcessNode& about) { say_joined(server, about); };
  const auto kubelet = run(env.loop, kubelet_port(flags, env, directory, node.about, logger));
  if (!kubelet || !*kubelet) {
    return kubelet ? report_usage(kubelet->error()) : report(internal_error("deadlock"));
  }
  const auto end = run(env.loop, up::run_join({.env = env,
                                               .client = client,
                                               .node = std::move(node),
                                               .server = server,
                                               .name = kName,
                                               .logger = logger,
                                               .metrics = metrics,
                                               .stop = stop.token(),
                                               .skip_grace = skip_grace.token(),
                                               .joined = joined,
                                               .kubelet = **kubelet}));
  run(env.loop, (**made)->stop());
  return end && *end ? 0 : report(end ? end->error() : internal_error("deadlock"));
}

}  // namespace

void add_node_role(CLI::App& app, Role& chosen) {
  auto flags = std::make_shared<Flags>();
  CLI::App* role = app.add_subcommand(
      "node", "Join a Kubernetes cluster with a node whose pods are processes of this machine");
  role->add_flag("--join", flags->join, "join the cluster of the kubeconfig")->required();
  role->add_option(
          "--kubeconfig", flags->kubeconfig,
          "kubeconfig file (default: KUBECONFIG, the pod's service account, ~/.kube/config)")
      ->type_name("FILE");
  role->add_option("--context", flags->context,
                   "context of the kubeconfig (default: the current one)")
      ->type_name("NAME");
  role->add_option("--name", flags->name, "name of the node (default: that of the machine)")
      ->type_name("NAME");
  role->add_option("--data-dir", flags->data_directory,
                   "data directory of the node (default $XDG_STATE_HOME/codeflare/node/NAME)")
      ->type_name("DIR");
  add_node_size(
      *role, flags->node,
      {.cpus = "CPUs of the node (default: those of the machine)",
       .memory = "memory of the node (default: that of the machine)",
       .gpus = "number of GPUs; pods get them by number",
       .label = "label of the node; may be repeated",
       .resource = "further resource of the node, such as example.com/fpga=2; may be repeated"});
  add_egress(*role, flags->node);
  add_node_permissions(*role, flags->node);
  role->add_flag("--no-taint", flags->no_taint,
                 "accept all pods; default: only pods that tolerate codeflare.dev/process-node, "
                 "because the pod network spans this machine only");
  role->add_option("--kubelet-client-ca", flags->kubelet_client_ca,
                   "certificates of the authority of the API server's client certificate; serves "
                   "logs, exec, attach and port-forward to it (default: not served)")
      ->type_name("FILE");
  role->add_option("--kubelet-address", flags->kubelet_address,
                   "address of that port (default: the machine's, port 10250)")
      ->type_name("ADDRESS:PORT");
  add_node_logging(*role, flags->node);
  role->footer("Example:\n  codeflare node --join --kubeconfig admin.conf --gpus 4");
  role->callback([&chosen, flags] { chosen = [flags] { return run_node(*flags); }; });
}

}  // namespace codeflare
