#include "tests/sim/sim_dispatch_world.h"

#include "apiserver/server/api_server.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/appwrapper/queue_driver.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/dispatch/cluster_links.h"
#include "controllers/dispatch/copy_object.h"
#include "controllers/dispatch/fence_guard.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/job/job_controller.h"
#include "net/in_process.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_dispatch_judge.h"
#include "tests/sim/sim_queue_process.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sim {
namespace {

using apiserver::ApiServer;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTrouble = minutes(4);
constexpr Duration kPatience = minutes(60);
constexpr Duration kLook = seconds(20);
constexpr int kWorks = 9;

const model::ResourceType kAppWrappers{"workload.codeflare.dev", "v1beta1", "AppWrapper",
                                       "appwrappers", true};
const model::ResourceType kManagedClusters{"dispatch.codeflare.dev", "v1alpha1", "ManagedCluster",
                                           "managedclusters", false};
const model::ResourceType kQuotas{"quota.codeflare.dev", "v1alpha1", "QuotaSubtree",
                                  "quotasubtrees", true};
const model::ResourceType kSecrets{"", "v1", "Secret", "secrets", true};
const model::ResourceType kNamespaces{"", "v1", "Namespace", "namespaces", false};

net::Peer administrator() {
  return {.address = "simulation",
          .certificate =
              net::Peer::Certificate{.common_name = "admin", .organizations = {"system:masters"}}};
}

std::string path_of(const std::string& target) {
  return target.substr(0, target.find('?'));
}

// Says that a copy is gone as soon as its deletion was asked for.
class HastyService final : public net::HttpService {
 public:
  explicit HastyService(net::HttpService& target) : target_(target) {}
  Task<Result<net::Response>> send(net::Request request) override {
    const std::string path = path_of(request.target);
    if (request.method == "GET" && asked_.contains(path)) {
      constexpr std::string_view kGone =
          R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404})";
      co_return net::make_response(404, "application/json", Bytes::from_static(kGone));
    }
    if (request.method == "DELETE" && path.contains("/appwrappers/")) {
      asked_.insert(path);
    }
    if (request.method == "POST" || request.method == "PATCH") {
      asked_.clear();
    }
    co_return co_await target_.send(std::move(request));
  }

 private:
  net::HttpService& target_;
  std::set<std::string> asked_;
};

// One connection of a hub's process to a worker; a dead process says nothing any more.
struct Road {
  Road(net::HttpService& target, Random& random, const net::LinkFaults& faults)
      : link(target, random, faults) {}
  net::SimLink link;
};

class RoadConnection final : public kube::Connection {
 public:
  RoadConnection(std::shared_ptr<Road> road, const std::string& name)
      : road_(std::move(road)), host_(name) {
    config_.server = "https://" + name;
  }
  net::HttpService& service() override { return road_->link; }
  const kube::Config& config() const override { return config_; }
  const std::string& host() const override { return host_; }

 private:
  std::shared_ptr<Road> road_;
  kube::Config config_;
  std::string host_;
};

// A clock that runs a little faster or slower than the world, and tells another time of day.
class DriftingClock final : public Clock {
 public:
  DriftingClock(Clock& world, double rate, Duration ahead)
      : world_(world), rate_(rate), ahead_(ahead), begin_(world.now()) {}
  Instant now() const override {
    return begin_ + Duration(static_cast<Duration::rep>(
                        static_cast<double>((world_.now() - begin_).count()) * rate_));
  }
  WallTime wall() const override { return world_.wall() + ahead_; }

 private:
  Clock& world_;
  double rate_;
  Duration ahead_;
  Instant begin_;
};

struct Cluster {
  std::string name;
  std::unique_ptr<DriftingClock> clock;  // of its programs
  bool fenced = false;
  std::unique_ptr<ApiServer> server;
  std::unique_ptr<net::InProcessService> service;
  std::unique_ptr<HastyService> hasty;
  std::unique_ptr<kube::Client> admin;
  std::unique_ptr<SimProcess> process;
  std::vector<std::shared_ptr<Road>> roads;  // of the hub's processes to it, the newest last
  bool cut = false;
};

class World {
 public:
  World(const Run& run, DispatchBug bug)
      : verbose_(run.verbose),
        is_narrow_(run.seed % 3 == 0 && bug != DispatchBug::no_fence),
        bug_(bug),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        judge_([this](const std::string& what) { say(what); }),
        group_(env_.loop),
        trouble_(env_.loop) {}

  Outcome run() {
    if (!codeflare::run(env_.loop, story())) {
      violations_.push_back("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), std::move(violations_), counts_};
    outcome.violations.insert(outcome.violations.end(), judge_.violations().begin(),
                              judge_.violations().end());
    for (const auto& [what, count] : judge_.counts()) {
      outcome.counts[what] += count;
    }
    for (const auto& cluster : clusters_) {
      outcome.counts["faults"] += cluster->process->faults();
    }
    for (const char* what : {"Jobs on workers", "Jobs here", "killed", "cut off", "state Completed",
                             "suspended", "deleted", "paused", "drained", "stopped by a fence"}) {
      outcome.counts[what] += 0;
    }
    return outcome;
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }
  bool is_well() const { return violations_.empty() && judge_.violations().empty(); }
  Cluster& hub() { return *clusters_.front(); }

  void say(const std::string& what) {
    if (verbose_) {
      std::printf("%s %s\n", to_rfc3339(env_.clock.wall()).c_str(), what.c_str());
    }
  }
  Logger logger() {
    if (!verbose_) {
      return {};
    }
    return Logger(env_.clock, LogLevel::info, [](const LogRecord& record) {
      std::printf("           log: %s\n", format_log_text(record).c_str());
    });
  }

  Task<void> story() {
    bool ready = true;
    const char* const names[] = {"hub", "east", "north", "west"};
    for (const char* name : names) {
      std::string named = name;
      ready = ready && co_await set_up(std::move(named));
    }
    if (ready) {
      co_await manage();
      for (const auto& cluster : clusters_) {
        cluster->process->start();
      }
      co_await live();
      heal();
      co_await come_to_rest();
    }
    co_await group_.close();
    for (const auto& cluster : clusters_) {
      if (cluster->server != nullptr) {
        co_await cluster->server->stop({});
      }
    }
  }

  Task<bool> set_up(std::string name) {
    auto cluster = std::make_unique<Cluster>();
    cluster->name = name;
    ApiServer::Options options{.data_directory = "/data-" + name,
                               .durability = apiserver::Durability::memory};
    options.on_open = [this, name](apiserver::Store& store) { judge_.follow(store, name); };
    Result<std::unique_ptr<ApiServer>> started =
        co_await ApiServer::start(env_, std::move(options), logger(), metrics_);
    if (!started) {
      violations_.push_back("no server: " + started.error().to_string());
      co_return false;
    }
    cluster->server = *std::move(started);
    cluster->service =
        std::make_unique<net::InProcessService>(cluster->server->service(), administrator());
    cluster->hasty = std::make_unique<HastyService>(*cluster->service);
    cluster->admin = std::make_unique<kube::Client>(env_, *cluster->service);
    (void)co_await sleep_for(seconds(1));
    const auto defined = co_await controllers::ensure_crds(*cluster->admin, {});
    controllers::fakenode::FakeNodeOptions nodes{.count = 1 + pick(2), .cpus = model::Quantity(4)};
    const auto registered =
        co_await controllers::fakenode::register_fake_nodes(*cluster->admin, std::move(nodes));
    if (!defined || !registered) {
      violations_.push_back("no definitions or nodes: " + name);
      co_return false;
    }
    add_process(*cluster);
    clusters_.push_back(std::move(cluster));
    co_return true;
  }

  void add_process(Cluster& cluster) {
    SimProcess::Options options{.name = cluster.name, .server = cluster.service.get()};
    const bool is_hub = cluster.name == "hub";
    options.equip = [this, is_hub](runtime::Manager& manager) { equip(manager, is_hub); };
    options.faults = [this] { return faults(); };
    options.say = [this](const std::string& what) { say(what); };
    options.logger = logger();
    const double rate = 0.99 + 0.02 * env_.random.fraction();
    cluster.clock =
        std::make_unique<DriftingClock>(env_.clock, rate, is_hub ? Duration() : up_to(minutes(10)));
    Env env{env_.loop,     *cluster.clock, env_.random,  env_.files,
            env_.launcher, env_.variables, env_.blocking};
    cluster.process = std::make_unique<SimProcess>(env, group_, std::move(options));
  }

  net::LinkFaults faults() {
    return fault_mix(env_.random, {.lost_request = 0.03,
                                   .cut_stream = 0.4,
                                   .silent_stream = 0.05,
                                   .piece_delay = milliseconds(20),
                                   .pieces_before_fault = 60});
  }

  void equip(runtime::Manager& manager, bool is_hub) {
    controllers::QueueControllersOptions queue{
        .queue = {.core = {.preemption = true}, .binds = queue::Binds::all, .user_check = false},
        .trim_caches = false,
        .logger = logger()};
    queue.quota_subtrees = !is_hub || bug_ != DispatchBug::quota_ignored;
    if (is_hub) {
      controllers::dispatch::LinkOptions links{.logger = logger()};
      links.connect = [this](Env, const std::string& kubeconfig, const std::string&) {
        return connect(kubeconfig);
      };
      auto made = controllers::dispatch::add_links(manager, std::move(links));
      queue.copies = made;
      const auto driver = controllers::add_queue_controllers(manager, std::move(queue));
      controllers::dispatch::start_links(manager, made, driver);
    } else {
      controllers::add_queue_controllers(manager, std::move(queue));
      if (bug_ != DispatchBug::no_fence) {
        controllers::dispatch::add_fence_guard(manager, {.logger = logger()});
      }
    }
    controllers::job::add_job_controller(manager);
    controllers::fakenode::add_fake_node_controllers(manager);
  }

  Result<std::unique_ptr<kube::Connection>> connect(const std::string& name) {
    for (const auto& cluster : clusters_) {
      if (cluster->name != name) {
        continue;
      }
      net::HttpService* target = cluster->service.get();
      if (bug_ == DispatchBug::gone_too_early) {
        target = cluster->hasty.get();
      }
      auto road = std::make_shared<Road>(*target, env_.random, faults());
      if (healed_) {
        road->link.heal();
      }
      if (cluster->cut) {
        road->link.partition();
      }
      cluster->roads.push_back(road);
      return std::make_unique<RoadConnection>(std::move(road), name);
    }
    return fail(invalid_argument("no cluster " + name));
  }

  // --- people ---

  Task<void> create(Cluster& cluster, model::ResourceType type, std::string ns, std::string body) {
    const auto made =
        co_await cluster.admin->create(std::move(type), std::move(ns), std::move(body));
    if (!made && made.error().code != ErrorCode::already_exists) {
      violations_.push_back("cannot create: " + made.error().to_string());
    }
  }

  static std::string wrapper(const std::string& name, std::uint64_t pods, std::uint64_t duration,
                             std::uint64_t priority, const std::string& meta) {
    const std::string count = std::to_string(pods);
    return R"({"apiVersion":"workload.codeflare.dev/v1beta1","kind":"AppWrapper","metadata":)"
           R"({"name":")" +
           name + R"(")" + meta + R"(},"spec":{"priority":)" + std::to_string(priority) +
           R"(,"resources":{"GenericItems":[{"completionstatus":"Complete","generictemplate":)"
           R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" +
           name + R"("},"spec":{"parallelism":)" + count + R"(,"completions":)" + count +
           R"(,"template":{"metadata":{"annotations":{"codeflare.dev/duration":")" +
           std::to_string(duration) +
           R"(s"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i",)"
           R"("resources":{"requests":{"cpu":"1"}}}]}}}}}]}}})";
  }

  static std::string policy(const Cluster& cluster) {
    return cluster.fenced ? R"(,"onLost":"Redispatch","lostAfter":"1m")" : "";
  }

  // A copy that counts as gone too early shows when work is withdrawn often: some of it is large.
  std::uint64_t pods_max() const { return bug_ == DispatchBug::gone_too_early ? 4 : 3; }

  // Of work. A copy that no fence stops has to outlive the hub's wait to be noticed.
  std::uint64_t seconds_max() const { return bug_ == DispatchBug::no_fence ? 1500 : 400; }

  // Each of the two teams has room for one AppWrapper at least. In most worlds they have more: work
  // that waits for quota meets no trouble.
  std::string quota_tree() const {
    const std::uint64_t cpus = is_narrow_ ? pods_max() : std::uint64_t{kWorks} * pods_max();
    const std::string team =
        R"(","quotas":{"hardLimit":true,"requests":{"cpu":)" + std::to_string(cpus) + "}}}";
    return R"({"apiVersion":"quota.codeflare.dev/v1alpha1","kind":"QuotaSubtree","metadata":)"
           R"({"name":"teams","labels":{"tree":"team"}},"spec":{"children":[{"name":"a)" +
           team + R"(,{"name":"b)" + team + R"(,{"name":"default"}]}})";
  }

  // Two of three count to a team.
  static std::string team_of(int work) {
    return work % 3 == 2
               ? std::string()
               : std::string(R"(,"labels":{"team":")") + (work % 3 == 0 ? "a" : "b") + R"("})";
  }

  Task<void> manage() {
    co_await create(hub(), kNamespaces, "", R"({"metadata":{"name":"codeflare-system"}})");
    co_await create(hub(), kQuotas, "default", quota_tree());
    for (const auto& cluster : clusters_) {
      if (cluster->name == "hub") {
        continue;
      }
      const std::string& name = cluster->name;
      co_await create(hub(), kSecrets, "codeflare-system",
                      R"({"metadata":{"name":"cluster-)" + name +
                          R"("},"stringData":{"kubeconfig":")" + name + R"("}})");
      cluster->fenced = pick(2) == 0 || bug_ == DispatchBug::no_fence;
      if (cluster->fenced) {
        judge_.fence(name);
      }
      co_await create(hub(), kManagedClusters, "",
                      R"({"metadata":{"name":")" + name + R"("},"spec":{"cost":)" +
                          std::to_string(pick(3)) + policy(*cluster) + "}}");
      const std::string foreign = std::string(kForeignPrefix) + name;
      co_await create(*cluster, kAppWrappers, "default",
                      wrapper(foreign, 1, 100'000, 0,
                              R"(,"annotations":{"dispatch.codeflare.dev/hub":"another",)"
                              R"("dispatch.codeflare.dev/hub-uid":"x"},"labels":)"
                              R"({"dispatch.codeflare.dev/copy-of-hub":"another"})"));
    }
  }

  Task<void> patch(model::ResourceType type, std::string ns, std::string name, std::string body) {
    (void)co_await hub().admin->patch(std::move(type), {std::move(ns), std::move(name)},
                                      kube::PatchKind::merge, std::move(body));
  }

  Task<void> work() {
    const std::uint64_t pods = pods_max();
    for (int i = 0; i < kWorks && !over_; ++i) {
      const std::string name = "w" + std::to_string(i);
      co_await create(hub(), kAppWrappers, "default",
                      wrapper(name, 1 + pick(pods), 3 + pick(pick(4) == 0 ? seconds_max() : 60),
                              pick(3), team_of(i)));
      if (bug_ == DispatchBug::copy_too_early) {
        co_await copy_early(*clusters_[1 + pick(3)], name);
      }
      if (pick(3) == 0) {
        // Work of the workers' own people takes room that the hub counted on.
        Cluster& worker = *clusters_[1 + pick(3)];
        const std::string own = "own-" + worker.name + std::to_string(i);
        co_await create(worker, kAppWrappers, "default",
                        wrapper(own, 1 + pick(pods), 5 + pick(90), pick(3), ""));
      }
      (void)co_await sleep_for(up_to(seconds(30)));
    }
  }

  // A copy that its worker may start, whatever the hub decides.
  Task<void> copy_early(Cluster& cluster, std::string name) {
    const auto work = co_await hub().admin->get(kAppWrappers, {"default", name});
    const auto system = co_await hub().admin->get(kNamespaces, {"", "kube-system"});
    if (!work || !system) {
      co_return;
    }
    Result<std::string> body =
        controllers::dispatch::copy_body(**work, std::string((*system)->uid()));
    if (!body) {
      co_return;
    }
    co_await create(cluster, kAppWrappers, "default", *std::move(body));
    (void)co_await cluster.admin->patch(kAppWrappers, {"default", name}, kube::PatchKind::merge,
                                        R"({"spec":{"suspend":false}})");
  }

  Task<void> change_minds() {
    while (!over_) {
      (void)co_await sleep_for(up_to(seconds(30)));
      const std::string name = "w" + std::to_string(pick(kWorks));
      const std::string cluster = clusters_[1 + pick(3)]->name;
      switch (pick(4)) {
        case 0:
          counts_["suspended"] += 1;
          co_await patch(kAppWrappers, "default", name, R"({"spec":{"suspend":true}})");
          (void)co_await sleep_for(up_to(seconds(20)));
          co_await patch(kAppWrappers, "default", name, R"({"spec":{"suspend":false}})");
          break;
        case 1:
          counts_["deleted"] += 1;
          (void)co_await hub().admin->remove(kAppWrappers, {"default", name});
          break;
        case 2: {
          const bool evict = pick(3) == 0;
          counts_[evict ? "drained" : "paused"] += 1;
          co_await patch(
              kManagedClusters, "", cluster,
              evict ? R"({"spec":{"paused":true,"evict":true}})" : R"({"spec":{"paused":true}})");
          (void)co_await sleep_for(up_to(seconds(60)));
          co_await patch(kManagedClusters, "", cluster,
                         R"({"spec":{"paused":false,"evict":false}})");
          break;
        }
        default:
          co_await patch(kAppWrappers, "default", name,
                         R"({"spec":{"priority":)" + std::to_string(pick(5)) + "}}");
      }
    }
  }

  // --- trouble ---

  Task<void> live() {
    trouble_.spawn(work());
    trouble_.spawn(change_minds());
    trouble_.spawn(trouble_programs());
    const Instant end = after(env_.loop.now(), kTrouble);
    while (is_well() && env_.loop.now() < end) {
      (void)co_await sleep_for(seconds(1));
    }
    over_ = true;
    co_await trouble_.join();
  }

  Task<void> trouble_programs() {
    while (!over_) {
      (void)co_await sleep_for(up_to(seconds(25)));
      // The hub more often than the others.
      Cluster& cluster = pick(2) == 0 ? hub() : *clusters_[pick(clusters_.size())];
      if (pick(3) == 0) {
        counts_["cut off"] += 1;
        co_await cut(*clusters_[1 + pick(3)]);
        continue;
      }
      counts_["killed"] += 1;
      co_await kill(cluster);
      (void)co_await sleep_for(seconds(1) + up_to(seconds(8)));
      if (!cluster.process->alive()) {
        cluster.process->start();
      }
    }
  }

  Task<void> kill(Cluster& cluster) {
    cluster.process->kill();
    if (&cluster != &hub()) {
      co_return;
    }
    for (const auto& each : clusters_) {
      for (const std::shared_ptr<Road>& road : each->roads) {
        road->link.partition();
      }
      each->roads.clear();
    }
    for (const auto& each : clusters_) {
      if (bug_ == DispatchBug::foreign_removed && each->name != "hub") {
        const std::string foreign = std::string(kForeignPrefix) + each->name;
        (void)co_await each->admin->remove(kAppWrappers, {"default", foreign});
      }
    }
    if (bug_ == DispatchBug::choice_forgotten) {
      const std::map<std::string, std::string> works = judge_.works();
      for (const auto& [name, state] : works) {
        const std::string named = name;
        if (state == "Running") {
          (void)co_await hub().admin->patch(
              kAppWrappers, {"default", named}, kube::PatchKind::merge,
              R"({"status":{"plan":null,"state":"Pending","canrun":false}})",
              {.subresource = "status"});
        }
      }
    }
  }

  Task<void> cut(Cluster& cluster) {
    say(cluster.name + " is cut off from the hub");
    cluster.cut = true;
    for (const std::shared_ptr<Road>& road : cluster.roads) {
      road->link.partition();
    }
    // Long enough for a fence to fall, and for the hub to start the work elsewhere: it waits for
    // lostAfter and a margin, 225 s in all.
    const bool long_cut = cluster.fenced && pick(2) == 0;
    (void)co_await sleep_for(long_cut ? seconds(210) + up_to(minutes(2)) : up_to(seconds(90)));
    cluster.cut = false;
    for (const std::shared_ptr<Road>& road : cluster.roads) {
      road->link.heal();
      road->link.set_faults(faults());
    }
  }

  void heal() {
    healed_ = true;
    for (const auto& cluster : clusters_) {
      cluster->process->heal();
      for (const std::shared_ptr<Road>& road : cluster->roads) {
        road->link.heal();
      }
    }
    say("healed");
  }

  // --- rest ---

  std::string unrest() const {
    for (const auto& [name, state] : judge_.works()) {
      if (state != "Completed" && state != "Failed") {
        return name + " is " + (state.empty() ? "new" : state);
      }
    }
    return "";
  }

  Task<void> come_to_rest() {
    for (const auto& cluster : clusters_) {
      if (cluster->name != "hub") {
        co_await patch(kManagedClusters, "", cluster->name,
                       R"({"spec":{"paused":false,"evict":false}})");
      }
    }
    for (int i = 0; i < kWorks; ++i) {
      co_await patch(kAppWrappers, "default", "w" + std::to_string(i),
                     R"({"spec":{"suspend":false}})");
    }
    co_await wait_until_empty("long after the faults", [this] { return unrest(); });
    if (!is_well()) {
      co_return;
    }
    for (int i = 0; i < kWorks; ++i) {
      (void)co_await hub().admin->remove(kAppWrappers, {"default", "w" + std::to_string(i)});
    }
    for (const auto& cluster : clusters_) {
      for (int i = 0; i < kWorks; ++i) {
        (void)co_await cluster->admin->remove(
            kAppWrappers, {"default", "own-" + cluster->name + std::to_string(i)});
      }
    }
    co_await wait_until_empty("long after all was deleted", [this] { return judge_.left_over(); });
  }

  Task<void> wait_until_empty(std::string when, std::function<std::string()> left) {
    const Instant deadline = after(env_.loop.now(), kPatience);
    std::string what = "everything";
    while (is_well() && !what.empty() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(kLook);
      what = left();
    }
    if (is_well() && !what.empty()) {
      violations_.push_back(when + ": " + what);
    }
  }

  bool verbose_;
  bool is_narrow_;
  DispatchBug bug_;
  SimEnv sim_;
  Env env_;
  MetricsRegistry metrics_;
  DispatchJudge judge_;
  std::vector<std::string> violations_;
  std::map<std::string, std::uint64_t> counts_;
  TaskGroup group_;
  TaskGroup trouble_;
  std::vector<std::unique_ptr<Cluster>> clusters_;
  bool over_ = false;
  bool healed_ = false;
};

}  // namespace

Outcome run_dispatch(const Run& run, DispatchBug bug) {
  return World(run, bug).run();
}

}  // namespace codeflare::sim
