#include "node/keeper_runtime.h"

#include "base/async/sleep.h"
#include "node/disk_usage.h"
#include "node/host_path.h"

#include <csignal>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kStartWithin = std::chrono::seconds(30);
constexpr Duration kEndWithin = std::chrono::seconds(30);

// One line for people out of what a program printed.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

KeeperRuntime::KeeperRuntime(Env env, KeeperRuntimeOptions options, VolumeWriter& volumes,
                             Connect connect)
    : env_(env),
      options_(std::move(options)),
      volumes_(volumes),
      connect_(std::move(connect)),
      group_(env.loop) {}

KeeperRuntime::~KeeperRuntime() = default;

std::string KeeperRuntime::directory_of(const std::string& uid) const {
  return join_path(options_.directory, "pods/" + uid);
}

std::string KeeperRuntime::log_directory(const std::string& uid,
                                         const std::string& container) const {
  return directory_of(uid) + "/logs/" + container;
}

std::string KeeperRuntime::socket_of(const std::string& uid) const {
  return join_path(directory_of(uid), "keeper.sock");
}

const SandboxView* KeeperRuntime::find(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second.view;
}

Task<Result<std::vector<PodRuntime::Found>>> KeeperRuntime::adopt() {
  const std::string all = join_path(options_.directory, "pods");
  struct Left {
    std::string uid;
    Result<SandboxSpec> spec;
    KeeperState state;
  };
  std::vector<Left> left = co_await run_blocking(env_, [&] {
    std::vector<Left> read;
    const Result<std::vector<std::string>> names = env_.files.list(all);
    for (const std::string& uid : names ? *names : std::vector<std::string>()) {
      const Result<std::string> spec = env_.files.read(join_path(all, uid + "/sandbox.json"));
      const Result<std::string> state = env_.files.read(join_path(all, uid + "/state.json"));
      Left one{.uid = uid, .spec = spec ? parse_sandbox(*spec) : fail(spec.error()), .state = {}};
      if (Result<KeeperState> parsed = parse_state(state ? *state : "{}")) {
        one.state = *std::move(parsed);
      }
      read.push_back(std::move(one));
    }
    return read;
  });
  std::vector<Found> found;
  for (Left& one : left) {
    if (!one.spec) {
      // It was never finished: no keeper can have come of it.
      options_.logger.warn("removing a pod directory without a sandbox",
                           {{"uid", one.uid}, {"error", one.spec.error()}});
      static_cast<void>(co_await remove(one.uid));
      continue;
    }
    pods_[one.uid].view.state = std::move(one.state);
    groups_of_[one.uid] = one.spec->groups;
    const Result<void> connected = co_await connect(one.uid);
    if (!connected) {
      lost(one.uid);
      co_await remove_groups(one.uid);
    }
    found.push_back({.spec = *std::move(one.spec), .alive = connected.has_value()});
  }
  co_return found;
}

void KeeperRuntime::took(const std::string& uid, const KeeperAnswer& answer) {
  const auto found = pods_.find(uid);
  if (found != pods_.end() && answer.protocol <= kKeeperProtocol) {
    found->second.view.state = answer.state;
    changed_.notify_all();
    tell(uid);
  }
}

void KeeperRuntime::lost(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found != pods_.end()) {
    found->second.view.alive = false;
    found->second.view.state.lose(env_.clock.wall().time_since_epoch().count());
    found->second.link = nullptr;
    changed_.notify_all();
    tell(uid);
  }
}

Task<void> KeeperRuntime::follow(std::string uid, std::shared_ptr<KeeperLink> link) {
  co_await link->run();
  const TaskContext& context = co_await current_context();
  const auto found = pods_.find(uid);
  if (!context.stop.stop_requested() && found != pods_.end() && found->second.link == link) {
    lost(uid);
  }
}

Task<Result<void>> KeeperRuntime::connect(std::string uid) {
  CO_TRY_ASSIGN(std::unique_ptr<net::LocalStream> stream, connect_(socket_of(uid)));
  auto link = std::make_shared<KeeperLink>(
      std::move(stream), [this, uid](const KeeperAnswer& answer) { took(uid, answer); });
  pods_[uid].link = link;
  group_.spawn(follow(uid, link));
  CO_TRY(co_await link->call({.verb = "state"}));
  Pod& pod = pods_[uid];
  pod.view.alive = true;
  tell(uid);
  co_return Result<void>();
}

Result<void> KeeperRuntime::prepare_volume(NewSandbox& sandbox, const VolumePlan& volume) {
  const std::string at = directory_of(sandbox.spec.uid) + "/volumes/" + volume.name;
  if (volume.kind == VolumePlan::Kind::files) {
    return volumes_.write(at, volume.files);
  }
  if (volume.kind != VolumePlan::Kind::machine) {
    return env_.files.make_directories(at, 0777);
  }
  TRY(prepare_host_path(env_.files, volume.source, volume.type));
  if (!options_.isolated) {
    return volumes_.link(volume.source, at);  // there are no mounts
  }
  sandbox.spec.machine_volumes.push_back({.name = volume.name, .source = volume.source});
  return {};
}

// All that must be there before the keeper is.
Result<void> KeeperRuntime::prepare(NewSandbox& sandbox) {
  const std::string directory = directory_of(sandbox.spec.uid);
  for (const char* name : {"", "/root", "/etc", "/volumes", "/messages", "/logs"}) {
    TRY(env_.files.make_directories(directory + name, 0700));
  }
  for (const EtcFile& file : sandbox.etc) {
    TRY(env_.files.write(directory + "/etc/" + file.name, file.content,
                         {.mode = 0644, .atomic = false}));
  }
  for (const VolumePlan& volume : sandbox.volumes) {
    TRY(prepare_volume(sandbox, volume));
  }
  if (options_.groups != nullptr) {
    TRY_ASSIGN(sandbox.spec.groups, options_.groups->make_pod(sandbox.spec.uid, sandbox.bounds));
  }
  return env_.files.write(directory + "/sandbox.json", model::to_json_text(sandbox.spec),
                          {.mode = 0600});
}

Task<Result<void>> KeeperRuntime::make(NewSandbox sandbox) {
  sandbox.spec.isolated = options_.isolated;
  const std::string uid = sandbox.spec.uid;
  CO_TRY(co_await run_blocking(env_, [&] { return prepare(sandbox); }));
  groups_of_[uid] = sandbox.spec.groups;
  Command command{.program = options_.program, .arguments = {"pod-keeper", directory_of(uid)}};
  CO_TRY_ASSIGN(const CommandResult started,
                co_await with_timeout(kStartWithin, "the start of a keeper",
                                      env_.launcher.run(std::move(command))));
  if (started.exit_code != 0) {
    co_return fail(
        failed_precondition("failed to create pod sandbox: " + first_line(started.error_output)));
  }
  co_return co_await connect(uid);
}

Task<Result<void>> KeeperRuntime::call(std::string uid, KeeperRequest request) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.link == nullptr) {
    co_return fail(unavailable("the pod has no keeper"));
  }
  std::shared_ptr<KeeperLink> link = found->second.link;
  co_return co_await link->call(std::move(request));
}

Task<Result<void>> KeeperRuntime::start(std::string uid, ContainerSpec spec) {
  KeeperRequest request{.verb = "start"};
  const std::vector<std::string> groups = groups_of_[uid];
  CO_TRY(co_await run_blocking(env_, [&]() -> Result<void> {
    for (const MountSpec& mount : spec.mounts) {
      // Places inside volumes that do not exist yet are directories. Elsewhere the keeper makes
      // them, for whom links in a volume lead nowhere else.
      const std::string source = join_path(directory_of(uid), mount.source);
      if (!options_.isolated && !env_.files.exists(source)) {
        TRY(env_.files.make_directories(source, 0777));
      }
    }
    return make_container_groups(groups, spec.name,
                                 {.memory_limit = spec.memory_limit,
                                  .cpu_limit_milli = spec.cpu_limit_milli,
                                  .cpu_request_milli = spec.cpu_request_milli});
  }));
  if (!options_.isolated) {
    // There are no mounts: programs find their volumes below it.
    spec.environment.push_back("CODEFLARE_POD_ROOT=" + directory_of(uid));
  }
  request.container = std::move(spec);
  co_return co_await call(std::move(uid), std::move(request));
}

Task<Result<void>> KeeperRuntime::ask_to_end(std::string uid, std::string container) {
  KeeperRequest request{.verb = "signal", .name = std::move(container), .signal = SIGTERM};
  co_return co_await call(std::move(uid), std::move(request));
}

Task<Result<void>> KeeperRuntime::kill(std::string uid, std::string container) {
  KeeperRequest request{.verb = "kill", .name = std::move(container)};
  co_return co_await call(std::move(uid), std::move(request));
}

namespace {

Task<Result<void>> wait_for(WaitList& changed, std::function<bool()> done) {
  while (!done()) {
    CO_TRY(co_await changed.wait());
  }
  co_return Result<void>();
}

}  // namespace

Task<Result<void>> KeeperRuntime::close(std::string uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.link == nullptr) {
    co_return Result<void>();
  }
  KeeperRequest request{.verb = "shutdown"};
  const Result<void> asked = co_await call(uid, std::move(request));
  if (!asked && asked.error().code != ErrorCode::unavailable) {
    co_return asked;
  }
  std::function<bool()> gone = [this, uid] {
    const auto now = pods_.find(uid);
    return now == pods_.end() || now->second.link == nullptr;
  };
  CO_TRY(co_await with_timeout(kEndWithin, "the end of a keeper",
                               wait_for(changed_, std::move(gone))));
  co_await remove_groups(uid);
  co_return Result<void>();
}

Task<void> KeeperRuntime::remove_groups(std::string uid) {
  const auto found = groups_of_.extract(uid);
  if (found.empty() || found.mapped().empty()) {
    co_return;
  }
  const std::vector<std::string>& groups = found.mapped();
  const Result<void> removed =
      co_await run_blocking(env_, [&] { return remove_pod_groups(groups); });
  if (!removed) {
    options_.logger.warn("control groups stay behind", {{"uid", uid}, {"error", removed.error()}});
  }
}

Task<Result<void>> KeeperRuntime::write_volumes(std::string uid, std::vector<VolumePlan> volumes) {
  co_return co_await run_blocking(env_, [&]() -> Result<void> {
    for (const VolumePlan& volume : volumes) {
      if (volume.kind == VolumePlan::Kind::files) {
        TRY(volumes_.write(directory_of(uid) + "/volumes/" + volume.name, volume.files));
      }
    }
    return {};
  });
}

Task<Result<PodUsage>> KeeperRuntime::usage(std::string uid) {
  const std::string directory = directory_of(uid);
  co_return co_await run_blocking(env_, [&]() -> Result<PodUsage> {
    PodUsage usage;
    usage.volumes = disk_usage_below(directory + "/volumes");
    usage.logs = disk_usage_below(directory + "/logs");
    for (const char* part : {"/messages", "/etc"}) {
      for (const auto& [name, bytes] : disk_usage_below(directory + part)) {
        usage.other += bytes;
      }
    }
    return usage;
  });
}

Task<Result<void>> KeeperRuntime::remove(std::string uid) {
  CO_TRY(co_await close(uid));
  co_await remove_groups(uid);
  pods_.erase(uid);
  const std::string directory = directory_of(uid);
  co_return co_await run_blocking(env_, [&] { return env_.files.remove_all(directory); });
}

Task<void> KeeperRuntime::stop() {
  co_await group_.close();
}

Task<Result<void>> probe_isolation(Env env, std::string program, std::string directory) {
  const std::string empty = join_path(directory, "probe");
  CO_TRY(co_await run_blocking(env, [&] { return env.files.make_directories(empty, 0700); }));
  Command command{.program = std::move(program), .arguments = {"pod-keeper", "--probe", empty}};
  CO_TRY_ASSIGN(const CommandResult tried,
                co_await with_timeout(kStartWithin, "the probe of namespaces",
                                      env.launcher.run(std::move(command))));
  static_cast<void>(co_await run_blocking(env, [&] { return env.files.remove_all(empty); }));
  if (tried.exit_code != 0) {
    co_return fail(unsupported(first_line(tried.error_output)));
  }
  co_return Result<void>();
}

}  // namespace codeflare::node
