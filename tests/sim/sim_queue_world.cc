#include "tests/sim/sim_queue_world.h"

#include "apiserver/server/api_server.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/admission/lease_guard.h"
#include "controllers/appwrapper/queue_controllers.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/fakenode/fake_nodes.h"
#include "controllers/job/job_controller.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "net/in_process.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_queue_judge.h"
#include "tests/sim/sim_queue_process.h"
#include "tests/sim/sim_queue_rest.h"
#include "tests/sim/sim_queue_users.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::sim {
namespace {

using apiserver::ApiServer;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTrouble = minutes(3);
// A stream that fell silent is given up five minutes after it opened, and retries that were put off
// during the faults come after a quarter of an hour.
constexpr Duration kPatience = minutes(60);
constexpr Duration kQuiet = minutes(20);
constexpr Duration kLook = seconds(20);

// The kind of cluster that the seed makes.
struct Character {
  bool together = false;  // one program does it all, as in `codeflare up`
  // Two queues, one of which leads. Without the queue's look at the server before it begins, seed
  // 13 finds work dispatched twice: a new leader's caches may be behind what its predecessor wrote,
  // because a watch can fall silent without a sign. Together with `together` the first is the one
  // of `codeflare up`, from which the other cannot take the lead.
  bool standby = false;
  bool preemption = false;  // of lower priorities, and of those who borrow quota
  QueueUsers::Habits habits;
};

Character character_of(Random& random, QueueBug bug) {
  const auto one_in = [&](std::uint64_t bound) { return random.below(bound) == 0; };
  Character character{
      .together = one_in(4), .standby = one_in(3), .preemption = one_in(3), .habits = {}};
  character.habits = {.rays = one_in(2),
                      .quotas = !one_in(3),
                      .edits_quotas = one_in(3),
                      .pauses = one_in(4),
                      .runs_pods = one_in(2)};
  // A bug is one of the queue alone, and quota has to be there to be misread.
  if (bug != QueueBug::none) {
    character.together = false;
    character.habits.quotas = bug == QueueBug::quota_misread;
    character.habits.edits_quotas = false;
  }
  return character;
}

constexpr const char* kUpUser = "up";

net::Peer administrator(std::string name = "admin") {
  return {.address = "simulation",
          .certificate = net::Peer::Certificate{.common_name = std::move(name),
                                                .organizations = {"system:masters"}}};
}

std::vector<std::unique_ptr<apiserver::Admission>> guard_of_up(const apiserver::Authorizer&,
                                                               const apiserver::Registry&,
                                                               const apiserver::Store&) {
  std::vector<std::unique_ptr<apiserver::Admission>> rules;
  rules.push_back(std::make_unique<admission::LeaseGuard>(kLease, kUpUser));
  return rules;
}

class World {
 public:
  World(const Run& run, QueueBug bug)
      : verbose_(run.verbose),
        bug_(bug),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        character_(character_of(env_.random, bug)),
        judge_(env_.clock, [this](const std::string& what) { say(what); }),
        group_(env_.loop),
        trouble_(env_.loop) {}

  Outcome run() {
    if (!codeflare::run(env_.loop, story())) {
      violations_.push_back("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), std::move(violations_), counts_};
    const auto add = [&](const std::vector<std::string>& violations,
                         const std::map<std::string, std::uint64_t>& counts) {
      outcome.violations.insert(outcome.violations.end(), violations.begin(), violations.end());
      for (const auto& [what, count] : counts) {
        outcome.counts[what] += count;
      }
    };
    add(judge_.violations(), judge_.counts());
    if (users_ != nullptr) {
      add(users_->refusals(), users_->counts());
    }
    for (const SimProcess& process : processes_) {
      outcome.counts["faults"] += process.faults();
      if (process.leaderships_lost() > 0) {
        outcome.counts["leaderships lost"] += process.leaderships_lost();
      }
    }
    for (const char* what :
         {"bindings", "admissions", "withdrawals", "new plans", "nodes lost", "state Completed",
          "state Failed", "killed", "cut off", "history forgotten", "AppWrappers gone"}) {
      outcome.counts[what] += 0;
    }
    return outcome;
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }
  bool is_well() const { return violations_.empty() && judge_.violations().empty(); }

  queue::QueueOptions queue_options() const {
    return {.core = {.preemption = character_.preemption},
            .binds = queue::Binds::all,
            .user_check = false};
  }

  Task<void> story() {
    if (co_await set_up()) {
      make_processes();
      co_await live();
      co_await users_->mend();
      heal();
      co_await come_to_rest();
    }
    co_await group_.close();
    if (server_ != nullptr) {
      co_await server_->stop({});
    }
  }

  Task<bool> set_up() {
    ApiServer::Options options{.data_directory = "/data",
                               .durability = apiserver::Durability::memory};
    options.on_open = [this](apiserver::Store& store) {
      store_ = &store;
      judge_.follow(store);
    };
    if (character_.together) {
      options.more_admission = guard_of_up;
    }
    Result<std::unique_ptr<ApiServer>> started =
        co_await ApiServer::start(env_, std::move(options), logger(), metrics_);
    if (!started) {
      violations_.push_back("no server: " + started.error().to_string());
      co_return false;
    }
    server_ = *std::move(started);
    service_ = std::make_unique<net::InProcessService>(server_->service(), administrator());
    up_service_ =
        std::make_unique<net::InProcessService>(server_->service(), administrator(kUpUser));
    buggy_ = std::make_unique<BuggyService>(*service_, bug_);
    admin_ = std::make_unique<kube::Client>(env_, *service_);
    users_ = std::make_unique<QueueUsers>(env_, *admin_, character_.habits,
                                          [this](const std::string& what) { say(what); });
    const auto defined =
        co_await controllers::ensure_crds(*admin_, {.ray_cluster = character_.habits.rays});
    if (!defined) {
      violations_.push_back("no definitions: " + defined.error().to_string());
      co_return false;
    }
    co_await users_->set_up();
    co_return true;
  }

  // --- programs ---

  void make_processes() {
    add_process("queue", true, character_.together, character_.standby);
    if (character_.standby) {
      add_process("standby", true, false, true);
    }
    if (!character_.together) {
      add_process("cluster", false, true, false);
    }
    for (SimProcess& process : processes_) {
      process.start();
    }
  }

  void add_process(std::string name, bool queue, bool cluster, bool election) {
    SimProcess::Options options{.name = std::move(name), .server = service_.get()};
    if (queue && cluster) {
      options.server = up_service_.get();
      options.exclusive = true;
    }
    if (queue && bug_ != QueueBug::none) {
      options.server = buggy_.get();
    }
    options.election = election;
    options.equip = [this, queue, cluster](runtime::Manager& manager) {
      if (queue) {
        controllers::add_queue_controllers(
            manager, {.queue = queue_options(), .trim_caches = !cluster, .logger = logger()});
      }
      if (cluster) {
        controllers::job::add_job_controller(manager);
        controllers::fakenode::add_fake_node_controllers(manager);
        if (character_.habits.rays) {
          controllers::raycluster::add_raycluster_controller(manager, nullptr);
        }
      }
    };
    options.faults = [this] {
      return fault_mix(env_.random, {.lost_request = 0.03,
                                     .cut_stream = 0.6,
                                     .silent_stream = 0.1,
                                     .piece_delay = milliseconds(20),
                                     .pieces_before_fault = 60});
    };
    options.say = [this](const std::string& what) { say(what); };
    options.logger = logger();
    processes_.emplace_back(env_, group_, std::move(options));
  }

  // --- trouble ---

  Task<void> live() {
    trouble_.spawn(users_->work(over_));
    trouble_.spawn(users_->trouble_nodes(over_));
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
      (void)co_await sleep_for(up_to(seconds(40)));
      SimProcess& process = processes_[pick(processes_.size())];
      switch (pick(4)) {
        case 0:
          say("history forgotten");
          counts_["history forgotten"] += 1;
          store_->forget(store_->revision() - std::min(store_->revision(), pick(20)));
          break;
        case 1:
          counts_["cut off"] += 1;
          process.cut_off();
          (void)co_await sleep_for(up_to(seconds(20)));
          process.reconnect();
          break;
        default:
          counts_["killed"] += 1;
          process.kill();
          (void)co_await sleep_for(seconds(1) + up_to(seconds(5)));
          if (!process.alive()) {
            process.start();
          }
      }
    }
  }

  void heal() {
    for (SimProcess& process : processes_) {
      process.heal();
    }
    say("healed");
  }

  // --- rest ---

  Task<void> come_to_rest() {
    const auto disquiet = [this] {
      std::string what = unrest(judge_);
      return what.empty() ? could_run(judge_, queue_options(), env_.clock.wall()) : what;
    };
    co_await wait_until_empty("long after the faults", disquiet);
    if (is_well() && co_await users_->submit_probes(free_millicores(judge_))) {
      co_await wait_until_empty("when the rest of the nodes is asked for", disquiet);
      check_probes();
    }
    // Long, so not always.
    if (is_well() && pick(4) == 0) {
      co_await stay_quiet();
    }
    if (is_well()) {
      co_await users_->delete_all();
      co_await wait_until_empty("long after all was deleted", [this] { return left_over(judge_); });
    }
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

  // The queue keeps no place without a reason: every probe starts.
  void check_probes() {
    for (const auto& [uid, work] : judge_.works()) {
      if (work.name().starts_with("probe-") && work.object.status.state != "Completed") {
        violations_.push_back(work.name() + " is " + work.object.status.state +
                              ", although its node has room");
      }
    }
  }

  Task<void> stay_quiet() {
    (void)co_await sleep_for(kQuiet);
    const std::uint64_t before = judge_.commits();
    (void)co_await sleep_for(minutes(5));
    if (judge_.commits() != before) {
      violations_.push_back("still writing when all is done");
    }
  }

  // --- telling ---

  Logger logger() {
    if (!verbose_) {
      return {};
    }
    return Logger(env_.clock, LogLevel::info, [](const LogRecord& record) {
      std::printf("           log: %s\n", format_log_text(record).c_str());
    });
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      const auto now = std::chrono::duration<double>(env_.loop.now().time_since_epoch()).count();
      std::printf("%10.3f %s\n", now, what.c_str());
    }
  }

  bool verbose_;
  QueueBug bug_;
  SimEnv sim_;
  Env env_;
  Character character_;
  MetricsRegistry metrics_;
  QueueJudge judge_;
  apiserver::Store* store_ = nullptr;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<net::InProcessService> service_;
  std::unique_ptr<net::InProcessService> up_service_;  // of the program that does it all
  std::unique_ptr<BuggyService> buggy_;
  std::unique_ptr<kube::Client> admin_;
  std::unique_ptr<QueueUsers> users_;
  TaskGroup group_;
  TaskGroup trouble_;
  std::deque<SimProcess> processes_;
  bool over_ = false;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> violations_;
};

}  // namespace

Outcome run_queue(const Run& run, QueueBug bug) {
  return World(run, bug).run();
}

}  // namespace codeflare::sim
