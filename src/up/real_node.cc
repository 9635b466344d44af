#include "up/real_node.h"

#include "net/local_stream.h"
#include "node/agent/holder_network.h"
#include "node/agent/keeper_runtime.h"
#include "node/agent/limit_groups.h"
#include "node/agent/machine.h"
#include "node/agent/probe_network.h"
#include "node/agent/volume_writer.h"
#include "node/stream/keeper_streams.h"
#include "node/stream/stream_exec.h"
#include "node/system/host_path.h"
#include "up/node_mode.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace codeflare::up {

namespace {

// This very program, also after its file was replaced: keepers of one run are of one version.
constexpr const char* kThisProgram = "/proc/self/exe";
constexpr std::int64_t kPodsMax = 110;
constexpr const char* kPodBlock = "10.244.0.0/24";
// Of several nodes that share a machine: each may have as many pods as one.
constexpr const char* kSharedPodBlock = "10.244.0.0/16";

const char* pod_block(const RealNodeOptions& options) {
  return options.more_names.empty() && !options.grows ? kPodBlock : kSharedPodBlock;
}

// Of its own for each data directory, the same at each start.
std::string group_name(const std::string& directory) {
  return "codeflare-" + std::to_string(std::hash<std::string>()(directory));
}

// Paths that pods never see.
std::vector<std::string> places_of(const RealNodeOptions& options) {
  std::vector<std::string> places = {parent_path(node::without_links(options.directory))};
  for (const std::string& place : options.private_places) {
    places.push_back(node::without_links(place));
  }
  return places;
}

node::NodeDescription describe(const RealNodeOptions& options, std::string not_isolated) {
  node::NodeDescription about{.name = options.name,
                              .address = "127.0.0.1",
                              .has_claim = !options.joins,
                              .capacity = {},
                              .machine = node::this_machine(),
                              .version = options.version,
                              .not_isolated = std::move(not_isolated),
                              .taints = options.taints,
                              .extras = options.extras};
  if (options.joins) {
    about.address = about.machine.address;
  }
  about.capacity.set("cpu", options.cpus.value_or(model::Quantity(about.machine.cpus)));
  about.capacity.set("memory",
                     options.memory.value_or(model::Quantity(about.machine.memory_bytes,
                                                             model::Quantity::Format::binary_si)));
  about.capacity.set("ephemeral-storage",
                     model::Quantity(about.machine.disk_bytes, model::Quantity::Format::binary_si));
  about.capacity.set("pods", model::Quantity(kPodsMax));
  if (!options.gpus.is_zero()) {
    about.capacity.set(model::kGpuResource, options.gpus);
  }
  return about;
}

}  // namespace

struct RealNode::Parts {
  Parts(Env env, const RealNodeOptions& options, std::string not_isolated,
        Result<std::unique_ptr<node::LimitGroups>> limits)
      : about(describe(options, not_isolated)),
        more_names(options.more_names),
        claims_directory(join_path(node::without_links(options.directory), "claims")),
        host_paths(options.host_paths),
        private_places(places_of(options)),
        allow_host_network(options.allow_host_network),
        volumes(node::make_volume_writer()),
        pod_network(env,
                    {.directory = join_path(options.directory, "net"),
                     .program = kThisProgram,
                     .block = pod_block(options),
                     .egress = options.egress,
                     .logger = options.logger},
                    node::call_holder,
                    [&loop = env.loop](const std::string& socket) {
                      return net::connect_local(loop, socket);
                    }),
        logs(node::make_log_files()),
        groups(limits ? *std::move(limits) : nullptr),
        pods(env,
             {.directory = options.directory,
              .program = kThisProgram,
              .isolated = not_isolated.empty(),
              .groups = groups.get(),
              .logger = options.logger},
             *volumes,
             [&loop = env.loop](const std::string& socket) {
               return net::connect_local(loop, socket);
             }),
        streams(env.loop, [this](const std::string& uid) { return pods.socket_of(uid); }),
        programs(streams) {
    if (!limits) {
      about.soft_limits = limits.error().message;
    }
  }

  // A start that failed leaves nothing running that it has started.
  Task<void> end_network() {
    return pod_network.is_needless() ? pod_network.shutdown() : pod_network.stop();
  }

  // Once it is known which network pods have.
  void make_probes(Env env) {
    node::PodSockets sockets;
    if (!about.pod_block.empty()) {
      sockets = [this](std::string uid) { return pod_network.socket(std::move(uid)); };
    }
    network = node::make_probe_network(env, std::move(sockets));
    probes.emplace(*network, &programs);
  }

  node::NodeDescription about;
  std::vector<std::string> more_names;
  std::string image_file;
  node::ImageTable images;
  std::string resolv_conf;
  std::string claims_directory;
  std::vector<std::string> host_paths;
  std::vector<std::string> private_places;
  bool allow_host_network;
  std::unique_ptr<node::VolumeWriter> volumes;
  node::HolderNetwork pod_network;
  std::unique_ptr<node::LogFiles> logs;
  std::unique_ptr<node::LimitGroups> groups;  // null: limits are soft
  node::KeeperRuntime pods;
  node::KeeperStreams streams;
  node::StreamExec programs;
  std::unique_ptr<node::ProbeNetwork> network;
  std::optional<node::ProbeCheck> probes;
};

RealNode::RealNode(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
RealNode::~RealNode() = default;

namespace {

// An unknown result does not count as forbidden: that would turn isolation off because of a full
// disk.
Result<void> must_be_known(const Result<void>& tried, const std::string& what, bool allow_plain) {
  if (tried || tried.error().code == ErrorCode::unsupported || allow_plain) {
    return {};
  }
  return fail(failed_precondition("cannot find out whether pods can have " + what + ": " +
                                  tried.error().message +
                                  "\n  try again, or start without: --allow-plain-processes"));
}

// The results of the trials, before the network's own.
struct Trial {
  Result<void> isolated;
  Result<void> networked;
  std::string file;  // DIR/mode
  std::optional<NodeMode> before;
  bool allow_plain = false;
};

// Whether a node may start with that; from then on it is what pods have.
Task<Result<void>> accept(Env env, Trial trial) {
  CO_TRY(must_be_known(trial.networked, "addresses of their own", trial.allow_plain));
  const FoundMode found{
      .mode = {.isolated = trial.isolated.has_value(), .networked = trial.networked.has_value()},
      .not_isolated = trial.isolated ? "" : trial.isolated.error().message,
      .not_networked = trial.networked ? "" : trial.networked.error().message};
  if (!trial.allow_plain) {
    CO_TRY(check_node_mode(trial.before, found));
  }
  co_return co_await remember_node_mode(env, std::move(trial.file), trial.before, found.mode);
}

}  // namespace

Result<void> check_host_paths(FileSystem& files, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const Result<FileInfo> found = files.info(path);
    std::string why;
    if (!node::is_plain_path(path)) {
      why = "expected a plain absolute path";
    } else if (!found) {
      why = found.error().message;
    } else if (found->type == FileInfo::Type::link) {
      why = "is a link; give its target instead";
    } else if (found->type != FileInfo::Type::directory) {
      why = "is not a directory";
    }
    if (!why.empty()) {
      return fail(invalid_argument("--allow-host-path " + path + ": " + why));
    }
  }
  return {};
}

Task<Result<std::unique_ptr<RealNode>>> RealNode::make(Env env, RealNodeOptions options) {
  // A directory that cannot be had says nothing about namespaces.
  CO_TRY(co_await run_blocking(
      env, [&] { return env.files.make_directories(options.directory, 0700); }));
  const Result<void> isolated =
      co_await node::probe_isolation(env, kThisProgram, options.directory);
  CO_TRY(must_be_known(isolated, "namespaces of their own", options.allow_plain));
  const std::string group = group_name(options.directory);
  auto limits = co_await run_blocking(env, [&] { return node::LimitGroups::find(group); });
  auto parts = std::make_unique<Parts>(env, options, isolated ? "" : isolated.error().message,
                                       std::move(limits));
  const std::string table = join_path(options.directory, "images.json");
  struct Read {
    Result<std::string> images;
    Result<std::string> resolv_conf;
  };
  const Read read = co_await run_blocking(
      env, [&] { return Read{env.files.read(table), env.files.read("/etc/resolv.conf")}; });
  if (read.images) {
    Result<node::ImageTable> images = node::ImageTable::parse(*read.images);
    if (!images) {
      co_return fail(std::move(images).error().with_context(table));
    }
    parts->images = *std::move(images);
  } else if (read.images.error().code != ErrorCode::not_found) {
    co_return fail(read.images.error());
  }
  parts->image_file = table;
  parts->resolv_conf = read.resolv_conf.value_or("");
  const std::string mode = join_path(options.directory, "mode");
  CO_TRY_ASSIGN(const std::optional<NodeMode> before, co_await read_node_mode(env, mode));
  // The start of a holder tries all that a system may forbid.
  const Result<void> networked =
      isolated ? co_await parts->pod_network.start() : fail(isolated.error());
  Trial trial{.isolated = isolated,
              .networked = networked,
              .file = mode,
              .before = before,
              .allow_plain = options.allow_plain};
  if (const Result<void> accepted = co_await accept(env, std::move(trial)); !accepted) {
    co_await parts->end_network();
    co_return fail(accepted.error());
  }
  if (networked) {
    parts->about.pod_block = pod_block(options);
  } else {
    parts->about.no_network = networked.error().message;
    parts->about.network_forbidden = true;
    options.logger.warn("pods share the machine's network", {{"error", networked.error()}});
  }
  parts->make_probes(env);
  co_return std::unique_ptr<RealNode>(new RealNode(std::move(parts)));
}

ProcessNode RealNode::parts() {
  // Only now all is known that the first one says of the machine.
  std::vector<node::NodeDescription> others;
  for (const std::string& name : parts_->more_names) {
    others.push_back(parts_->about);
    others.back().name = name;
  }
  return {.about = parts_->about,
          .others = std::move(others),
          .network = parts_->about.pod_block.empty() ? nullptr : &parts_->pod_network,
          .images = parts_->images,
          .own_images = node::own_images(node::without_links(kThisProgram), parts_->about.version),
          .image_file = parts_->image_file,
          .resolv_conf = parts_->resolv_conf,
          .pods = parts_->pods,
          .logs = *parts_->logs,
          .probes = &*parts_->probes,
          .claims_directory = parts_->claims_directory,
          .host_paths = parts_->host_paths,
          .private_places = parts_->private_places,
          .allow_host_network = parts_->allow_host_network,
          .streams = &parts_->streams};
}

Task<void> RealNode::stop() {
  co_await parts_->pods.stop();
  co_await parts_->end_network();
}

}  // namespace codeflare::up
