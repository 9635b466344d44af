#include "node/agent/keeper_runtime.h"

#include "base/async/sleep.h"
#include "node/agent/daemon_command.h"
#include "node/agent/disk_usage.h"
#include "node/agent/keeper_processes.h"
#include "node/system/host_path.h"
#include "node/wire/message.h"

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kEndWithin = std::chrono::seconds(30);
// Between tries to reach a keeper. One that has just ended may have its lock for a moment.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kPauseMax = std::chrono::seconds(5);
constexpr Duration kForcePause = std::chrono::milliseconds(50);
constexpr int kForceTries = 400;            // thousands of processes take some seconds to end
constexpr std::size_t kFilesAtOnce = 2000;  // some milliseconds

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

namespace {

// The rest of a pod of an earlier agent.
struct Left {
  std::string uid;
  Result<SandboxSpec> spec;
  KeeperState state{};
  bool unreadable = false;  // now: of what is there nothing is known
};

bool is_missing(const Error& error) {
  return error.code == ErrorCode::not_found;
}

Left read_left(FileSystem& files, const std::string& directory, const std::string& uid) {
  const Result<std::string> spec = files.read(join_path(directory, "sandbox.json"));
  const Result<std::string> state = files.read(join_path(directory, "state.json"));
  Left left{.uid = uid, .spec = spec ? parse_message<SandboxSpec>(*spec) : fail(spec.error())};
  if (Result<KeeperState> parsed = parse_message<KeeperState>(state ? *state : "{}")) {
    left.state = *std::move(parsed);
  }
  if (!state && !is_missing(state.error())) {
    // An agent that took that for no runs would start them once more.
    left.spec = fail(state.error());
    left.unreadable = true;
  }
  left.unreadable = left.unreadable || (!spec && !is_missing(spec.error()));
  return left;
}

Result<std::vector<Left>> read_all_left(FileSystem& files, const std::string& directory) {
  const Result<std::vector<std::string>> uids = files.list(directory);
  if (!uids && !is_missing(uids.error())) {
    return fail(uids.error());
  }
  std::vector<Left> all;
  for (const std::string& uid : uids ? *uids : std::vector<std::string>()) {
    all.push_back(read_left(files, join_path(directory, uid), uid));
  }
  return all;
}

}  // namespace

Task<Result<std::vector<PodRuntime::Found>>> KeeperRuntime::adopt() {
  const std::string all = join_path(options_.directory, "pods");
  CO_TRY_ASSIGN(std::vector<Left> left,
                co_await run_blocking(env_, [&] { return read_all_left(env_.files, all); }));
  std::set<std::string> uids;
  TaskGroup group(env_.loop);
  for (Left& one : left) {
    if (one.spec) {
      uids.insert(one.uid);
      pods_[one.uid].view.state = std::move(one.state);
      groups_of_[one.uid] = one.spec->groups;
      group.spawn(adopt_pod(one.uid));
    }
  }
  co_await group.join();
  for (const Left& one : left) {
    if (!one.spec && !co_await remove_remains(one.uid, one.spec.error(), one.unreadable)) {
      uids.insert(one.uid);
      left_alone_.push_back(one.uid);
    }
  }
  co_await sweep_groups(std::move(uids));
  std::vector<Found> found;
  for (Left& one : left) {
    if (const SandboxView* view = find(one.uid); one.spec && view != nullptr) {
      found.push_back({.spec = *std::move(one.spec), .alive = view->alive});
    }
  }
  begin_to_empty_trash();
  co_return found;
}

Task<bool> KeeperRuntime::remove_remains(std::string uid, Error why, bool unreadable) {
  const Result<bool> kept = co_await has_keeper(uid);
  if (unreadable || !kept || *kept) {
    options_.logger.warn("a pod of which nothing can be read is left alone",
                         {{"uid", uid}, {"error", why}});
    co_return false;
  }
  options_.logger.warn("removing a pod directory without a sandbox",
                       {{"uid", uid}, {"error", why}});
  static_cast<void>(co_await remove(std::move(uid)));
  co_return true;
}

Task<void> KeeperRuntime::sweep_groups(std::set<std::string> but) {
  if (options_.groups == nullptr) {
    co_return;
  }
  const Result<void> swept =
      co_await run_blocking(env_, [&] { return options_.groups->keep(but); });
  if (!swept) {
    options_.logger.warn("control groups of pods that are gone stay behind",
                         {{"error", swept.error()}});
  }
}

// All at once: one that does not answer keeps nobody else waiting.
Task<void> KeeperRuntime::adopt_pod(std::string uid) {
  if (!co_await find_keeper(uid)) {
    lost(uid);
    co_await remove_groups(std::move(uid));
  }
}

void KeeperRuntime::took(const std::string& uid, std::uint64_t link_number,
                         const KeeperAnswer& answer) {
  const auto found = pods_.find(uid);
  if (found == pods_.end() || found->second.link_number != link_number) {
    return;
  }
  found->second.view.alive = true;
  if (answer.protocol <= kKeeperProtocol) {
    found->second.view.state = answer.state;
  }
  changed_.notify_all();
  tell(uid);
}

void KeeperRuntime::lost(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found != pods_.end()) {
    found->second.view.alive = false;
    found->second.view.state.lose(env_.clock.wall().time_since_epoch().count());
    found->second.link = nullptr;
    found->second.link_number = 0;
    changed_.notify_all();
    tell(uid);
  }
}

bool KeeperRuntime::without_link(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found != pods_.end() && found->second.link == nullptr;
}

Task<Result<bool>> KeeperRuntime::has_keeper(std::string uid) {
  const std::string lock = directory_of(uid) + "/keeper.lock";
  co_return co_await run_blocking(env_, [&]() -> Result<bool> {
    // A pod without a lock was never kept; making one takes room on the disk, which may be full.
    if (const Result<FileInfo> info = env_.files.info(lock); !info && is_missing(info.error())) {
      return false;
    }
    const Result<std::unique_ptr<FileLock>> taken = env_.files.lock(lock);
    if (taken || is_missing(taken.error())) {
      return false;
    }
    // That it could not be opened, for want of descriptors for instance, tells nothing.
    return taken.error().code == ErrorCode::failed_precondition ? Result<bool>(true)
                                                                : fail(taken.error());
  });
}

Task<void> KeeperRuntime::follow(std::string uid, std::shared_ptr<KeeperLink> link) {
  co_await link->run();
  const TaskContext& context = co_await current_context();
  const auto found = pods_.find(uid);
  if (!context.stop.stop_requested() && found != pods_.end() && found->second.link == link) {
    found->second.link = nullptr;
    found->second.link_number = 0;
    co_await recover(std::move(uid));
  }
}

Task<void> KeeperRuntime::recover(std::string uid) {
  if (!without_link(uid) || std::exchange(pods_[uid].recovering, true)) {
    co_return;
  }
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kPauseMax)) {
    const Result<bool> kept = co_await has_keeper(uid);
    if (!without_link(uid)) {
      break;  // found by somebody else, or removed
    }
    if (kept && !*kept) {
      lost(uid);
      break;
    }
    const Result<void> connected = co_await connect(uid);
    if (connected || !without_link(uid)) {
      break;
    }
    if (const Result<void> slept = co_await sleep_for(pause); !slept) {
      break;
    }
  }
  if (const auto found = pods_.find(uid); found != pods_.end()) {
    found->second.recovering = false;
  }
}

Task<Result<void>> KeeperRuntime::connect(std::string uid) {
  CO_TRY_ASSIGN(std::unique_ptr<net::LocalStream> stream, connect_(socket_of(uid)));
  const std::uint64_t number = ++links_;
  auto link = std::make_shared<KeeperLink>(
      std::move(stream),
      [this, uid, number](const KeeperAnswer& answer) { took(uid, number, answer); });
  Pod& pod = pods_[uid];
  pod.link = link;
  pod.link_number = number;
  group_.spawn(follow(uid, link));
  co_return co_await link->call({.verb = "state"});
}

Task<bool> KeeperRuntime::find_keeper(std::string uid) {
  const Result<void> connected = co_await connect(uid);
  if (connected) {
    co_return true;
  }
  const Result<bool> kept = co_await has_keeper(uid);
  if (kept && !*kept) {
    co_return false;
  }
  options_.logger.warn("the keeper of a pod does not answer yet",
                       {{"uid", uid}, {"error", connected.error()}});
  pods_[uid].view.alive = true;
  tell(uid);
  group_.spawn(recover(std::move(uid)));
  co_return true;
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
  // Written down before they are there: should we die in between, somebody knows of them.
  if (options_.groups != nullptr) {
    sandbox.spec.groups = options_.groups->directories_of(sandbox.spec.uid);
  }
  TRY(env_.files.write(directory + "/sandbox.json", model::to_json_text(sandbox.spec),
                       {.mode = 0600}));
  if (options_.groups != nullptr) {
    TRY(options_.groups->make_pod(sandbox.spec.uid, sandbox.bounds));
  }
  return {};
}

Task<Result<void>> KeeperRuntime::make(NewSandbox sandbox) {
  sandbox.spec.isolated = options_.isolated;
  const std::string uid = sandbox.spec.uid;
  CO_TRY(co_await run_blocking(env_, [&] { return prepare(sandbox); }));
  groups_of_[uid] = sandbox.spec.groups;
  Command command{.program = options_.program, .arguments = {"pod-keeper", directory_of(uid)}};
  const Result<CommandResult> started = co_await with_timeout(
      kDaemonStartWithin, "the start of a keeper", env_.launcher.run(std::move(command)));
  Result<void> ready;
  if (!started) {
    ready = fail(started.error());
  } else if (started->exit_code != 0) {
    ready = fail(
        failed_precondition("failed to create pod sandbox: " + first_line(started->error_output)));
  }
  const auto known = pods_.find(uid);
  const bool kept = known != pods_.end() && known->second.view.alive;
  if (!ready && (kept || ready.error().code == ErrorCode::cancelled)) {
    co_return ready;
  }
  // Also when that was not the one we started: it came up too late, or we had lost sight of it.
  if (!co_await find_keeper(uid)) {
    co_return ready ? fail(unavailable("the keeper of the pod has ended at once")) : ready;
  }
  co_return Result<void>();
}

Task<Result<PodUses>> KeeperRuntime::measure(std::vector<std::string> uids) {
  std::vector<MeasuredPod> pods;
  for (std::string& uid : uids) {
    const auto found = pods_.find(uid);
    if (found == pods_.end() || !found->second.view.alive) {
      continue;
    }
    const auto groups = groups_of_.find(uid);
    MeasuredPod pod{
        .uid = uid,
        .directory = directory_of(uid),
        .groups = groups == groups_of_.end() ? std::vector<std::string>() : groups->second,
        .running = {}};
    for (const RunRecord& run : found->second.view.state.runs) {
      if (run.running()) {
        pod.running.push_back(run.name);
      }
    }
    pods.push_back(std::move(pod));
  }
  co_return co_await run_blocking(env_, [&]() -> Result<PodUses> { return measure_pods(pods); });
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
  } else if (std::ranges::none_of(spec.environment, [](const std::string& variable) {
               return variable.starts_with("TAR_OPTIONS=");
             })) {
    // A container has one user. As 0, tar would give files back to others, of whom there are none,
    // and fail; kubectl cp runs it.
    spec.environment.push_back("TAR_OPTIONS=--no-same-owner");
  }
  request.container = std::move(spec);
  co_return co_await call(std::move(uid), std::move(request));
}

Task<Result<void>> KeeperRuntime::ask_to_end(std::string uid, std::string container) {
  KeeperRequest request{.verb = "signal", .name = std::move(container), .signal = SIGTERM};
  co_return co_await call(std::move(uid), std::move(request));
}

Task<Result<void>> KeeperRuntime::cut_off(std::string uid, std::string container, Ask ask) {
  KeeperRequest request{.verb = "signal",
                        .name = std::move(container),
                        .signal = ask == Ask::now ? SIGTERM : 0,
                        .cut_off = true};
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
  if (const auto found = pods_.find(uid); found != pods_.end() && found->second.link != nullptr) {
    KeeperRequest request{.verb = "shutdown"};
    Result<void> ended = co_await call(uid, std::move(request));
    if (ended) {
      std::function<bool()> gone = [this, uid] {
        const SandboxView* view = find(uid);
        return view == nullptr || !view->alive;
      };
      ended = co_await with_timeout(kEndWithin, "the end of a keeper",
                                    wait_for(changed_, std::move(gone)));
    }
    if (!ended && (ended.error().code == ErrorCode::cancelled ||
                   ended.error().code == ErrorCode::failed_precondition)) {
      co_return ended;
    }
  }
  CO_TRY(co_await end_by_force(uid));
  if (const SandboxView* view = find(uid); view != nullptr && view->alive) {
    lost(uid);
  }
  co_await remove_groups(std::move(uid));
  co_return Result<void>();
}

// Nothing to do for a keeper that has ended as it was asked to.
Task<Result<void>> KeeperRuntime::end_by_force(std::string uid) {
  const std::string directory = directory_of(uid);
  for (int turn = 0;; ++turn) {
    CO_TRY_ASSIGN(const bool kept, co_await has_keeper(uid));
    if (!kept) {
      co_return Result<void>();
    }
    if (turn == kForceTries) {
      co_return fail(unavailable("the keeper of pod " + uid + " cannot be ended"));
    }
    if (turn == 1) {
      options_.logger.warn("killing a keeper that does not answer", {{"uid", uid}});
    }
    if (turn > 0) {
      co_await run_blocking(env_, [&] { kill_keeper(directory); });
    }
    CO_TRY(co_await sleep_for(kForcePause));
  }
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
  DiskScan scan(
      {directory + "/volumes", directory + "/logs", directory + "/messages", directory + "/etc"});
  for (;;) {
    const Instant began = env_.clock.now();
    if (co_await run_blocking(env_, [&] { return scan.go_on(kFilesAtOnce); })) {
      break;
    }
    // However many files a pod has made: the look at them takes half of a processor at most, and
    // what others have for the same threads comes between.
    CO_TRY(co_await sleep_for(env_.clock.now() - began));
  }
  PodUsage usage{.volumes = scan.found(0), .logs = scan.found(1)};
  for (const std::size_t part : {std::size_t{2}, std::size_t{3}}) {
    for (const auto& [name, bytes] : scan.found(part)) {
      usage.other += bytes;
    }
  }
  co_return usage;
}

Task<Result<void>> KeeperRuntime::remove(std::string uid) {
  CO_TRY(co_await close(uid));
  co_await remove_groups(uid);
  pods_.erase(uid);
  // The next pod does not wait for the removal of this directory.
  const std::string directory = directory_of(uid);
  const std::string away = join_path(trash(), env_.random.uuid());
  const Result<void> moved = co_await run_blocking(env_, [&]() -> Result<void> {
    TRY(env_.files.make_directories(trash(), 0700));
    return env_.files.rename(directory, away);
  });
  if (!moved) {
    co_return moved.error().code == ErrorCode::not_found ? Result<void>() : moved;
  }
  ++thrown_;
  begin_to_empty_trash();
  co_return Result<void>();
}

std::string KeeperRuntime::trash() const {
  return join_path(options_.directory, "trash");
}

void KeeperRuntime::begin_to_empty_trash() {
  if (!std::exchange(emptying_, true)) {
    group_.spawn(empty_trash());
  }
}

Task<void> KeeperRuntime::empty_trash() {
  std::set<std::string> stuck;
  const TaskContext& context = co_await current_context();
  while (!context.stop.stop_requested()) {
    const std::uint64_t thrown = thrown_;
    std::vector<std::string> names = co_await run_blocking(
        env_, [&] { return env_.files.list(trash()).value_or(std::vector<std::string>()); });
    std::erase_if(names, [&](const std::string& name) { return stuck.contains(name); });
    if (names.empty() && thrown == thrown_) {
      break;
    }
    for (const std::string& name : names) {
      const Result<void> removed = co_await run_blocking(
          env_, [&] { return env_.files.remove_all(join_path(trash(), name)); });
      if (!removed) {
        stuck.insert(name);
        options_.logger.warn("what a pod has left cannot be removed", {{"error", removed.error()}});
      }
      if (context.stop.stop_requested()) {
        break;
      }
    }
  }
  emptying_ = false;
}

Task<void> KeeperRuntime::stop() {
  co_await group_.close();
}

Task<Result<void>> probe_isolation(Env env, std::string program, std::string directory) {
  return probe_daemon(env, {.program = std::move(program),
                            .name = "pod-keeper",
                            .directory = join_path(directory, "probe"),
                            .what = "the probe of namespaces"});
}

}  // namespace codeflare::node
