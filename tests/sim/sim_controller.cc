// Three replicas of hello_controller on bad networks: informers, work queues, leader election and
// writes with lost replies, cut streams, partitions and crashes. At no moment do two replicas work,
// nor two workers, wherever they are, on one key; after the faults every Greeting has its ConfigMap
// and status, and then nothing is written any more.

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "examples/hello_controller/hello.h"
#include "kube/testing/scripted_service.h"
#include "net/sim_link.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_main.h"

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace codeflare::sim {
namespace {

using hello::kConfigMaps;
using hello::kGreetings;
using kube::testing::ScriptedService;
using runtime::ObjectKey;
using runtime::ObjectRef;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTrouble = minutes(5);
// A stream that fell silent is given up when its time is over, five minutes after it opened.
constexpr Duration kPatience = minutes(15);
constexpr std::uint64_t kNames = 6;
constexpr int kReplicas = 3;

class World {
 public:
  explicit World(const Run& run)
      : verbose_(run.verbose),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        service_(env_),
        group_(env_.loop),
        trouble_(env_.loop) {
    service_.set_observer([this](const kube::testing::ScriptedStore::Change& change) {
      say((change.deleted ? "server: delete " : "server: write ") +
          change.after->key().to_string() + " " +
          change.after->string_at({"spec", "holderIdentity"}));
    });
    for (int i = 0; i < kReplicas; ++i) {
      replicas_.emplace_back(*this, "r" + std::to_string(i));
    }
  }

  Outcome run() {
    const bool ended = codeflare::run(env_.loop, story());
    if (!ended) {
      violations_.push_back("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), std::move(violations_), counts_};
    for (Replica& replica : replicas_) {
      outcome.counts["faults"] += replica.link.counts().faults;
    }
    return outcome;
  }

 private:
  // hello_controller, with somebody at the door who notes which keys are in work.
  class Witnessed final : public runtime::Reconciler {
   public:
    Witnessed(const runtime::ControllerContext& context, World& world)
        : hello_(context), world_(world) {}

    Task<Result<runtime::Next>> reconcile(ObjectKey key) override {
      if (!world_.in_work_.insert(key).second) {
        world_.violations_.push_back("two workers have " + key.to_string());
      }
      world_.counts_["reconciles"] += 1;
      world_.counts_["reconciles beside others"] += world_.in_work_.size() > 1 ? 1 : 0;
      Result<runtime::Next> next = co_await hello_.reconcile(key);
      world_.in_work_.erase(key);
      co_return next;
    }

   private:
    hello::Hello hello_;
    World& world_;
  };

  // One process: it comes back with another identity whenever it ends.
  struct Replica {
    Replica(World& world_in, std::string name_in)
        : world(world_in),
          name(std::move(name_in)),
          link(world.service_, world.env_.random, world.faults()),
          client(world.env_, link) {}

    Task<void> live() {
      const TaskContext& context = co_await current_context();
      while (!context.stop.stop_requested()) {
        runtime::LeaderOptions leader{.ns = "default", .name = "hello"};
        leader.identity = name + "-" + std::to_string(++lives);
        manager = std::make_unique<runtime::Manager>(
            world.env_, client, runtime::ManagerOptions{.name = "hello", .leader = leader});
        manager->controller("greetings")
            .reconciles(kGreetings)
            .owns(kConfigMaps)
            .workers(2)
            .with<Witnessed>(world);
        crash = StopSource();
        Result<void> end = co_await with_stop(crash.token(), manager->run());
        world.say(leader.identity + (end ? " stopped" : " lost: " + end.error().message));
        world.counts_[end ? "stops" : "lost leaderships"] += 1;
        manager.reset();
        (void)co_await sleep_for(world.up_to(seconds(5)));
      }
    }

    World& world;
    std::string name;
    net::SimLink link;
    kube::Client client;
    std::unique_ptr<runtime::Manager> manager;
    StopSource crash;
    int lives = 0;
  };

  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }

  net::LinkFaults faults() {
    return fault_mix(env_.random, {.lost_request = 0.03, .cut_stream = 0.5, .silent_stream = 0.1});
  }

  Task<void> story() {
    for (Replica& replica : replicas_) {
      group_.spawn(replica.live());
    }
    group_.spawn(watch_leaders());
    trouble_.spawn(write_greetings());
    trouble_.spawn(make_trouble());
    (void)co_await sleep_for(kTrouble);
    co_await trouble_.close();
    for (Replica& replica : replicas_) {
      replica.link.heal();
    }
    say("healed");
    const Instant deadline = after(env_.loop.now(), kPatience);
    while (!all_greeted().empty() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(seconds(1));
    }
    if (std::string missing = all_greeted(); !missing.empty()) {
      violations_.push_back("long after the faults: " + missing);
    }
    co_await stay_quiet();
    co_await group_.close();
  }

  Task<void> stay_quiet() {
    // Retries that were put off during the faults still come.
    (void)co_await sleep_for(minutes(20));
    const std::string before = versions();
    (void)co_await sleep_for(minutes(2));
    if (versions() != before) {
      violations_.push_back("still writing when all is done");
    }
  }

  std::string versions() const {
    std::string text;
    for (const auto* type : {&kGreetings, &kConfigMaps}) {
      for (const auto& [key, object] : service_.objects(*type)) {
        text += key.to_string() + "@" + std::string(object->resource_version()) + " ";
      }
    }
    return text;
  }

  Task<void> watch_leaders() {
    std::string last;
    while (co_await sleep_for(milliseconds(50))) {
      std::string leading;
      int count = 0;
      for (const Replica& replica : replicas_) {
        if (replica.manager != nullptr && replica.manager->leading()) {
          leading += replica.name + std::to_string(replica.lives) + " ";
          ++count;
        }
      }
      if (count > 1) {
        violations_.push_back("at work at once: " + leading);
      }
      if (leading != last) {
        counts_["leaders"] += count > 0 ? 1 : 0;
        say("leading: " + leading);
        last = leading;
      }
    }
  }

  Task<void> write_greetings() {
    do {
      ObjectKey key{"default", "g" + std::to_string(pick(kNames))};
      if (pick(8) == 0) {
        service_.erase(pick(2) == 0 ? kGreetings : kConfigMaps, key);
      } else {
        service_.put(kGreetings,
                     R"({"apiVersion":"examples.codeflare.dev/v1","kind":"Greeting","metadata":)"
                     R"({"name":")" +
                         key.name + R"(","namespace":"default"},"spec":{"name":"n)" +
                         std::to_string(pick(100)) + R"("}})");
      }
      counts_["changes"] += 1;
    } while (co_await sleep_for(up_to(seconds(5))));
  }

  Task<void> make_trouble() {
    while (co_await sleep_for(up_to(seconds(40)))) {
      Replica& replica = replicas_[pick(replicas_.size())];
      if (pick(4) == 0) {
        service_.compact();
      } else if (pick(3) == 0) {
        // Killed: it says nothing more to anybody.
        counts_["crashes"] += 1;
        replica.link.partition();
        replica.crash.request_stop();
        (void)co_await sleep_for(up_to(seconds(10)));
        replica.link.heal();
        replica.link.set_faults(faults());
      } else {
        counts_["partitions"] += 1;
        replica.link.partition();
        (void)co_await sleep_for(up_to(seconds(30)));
        replica.link.heal();
        replica.link.set_faults(faults());
      }
    }
  }

  // The missing greeting, or nothing.
  std::string all_greeted() const {
    for (const auto& [key, greeting] : service_.objects(kGreetings)) {
      const std::string text = "Hello, " + greeting->string_at({"spec", "name"}) + "!";
      ObjectRef map = service_.find(kConfigMaps, key);
      if (map == nullptr || map->string_at({"data", "text"}) != text) {
        return key.to_string() + " has no ConfigMap that says " + text;
      }
      if (greeting->string_at({"status", "message"}) != text) {
        return key.to_string() + " does not say " + text + " in its status";
      }
    }
    return {};
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      const auto now = std::chrono::duration<double>(env_.loop.now().time_since_epoch()).count();
      std::printf("%8.3f %s\n", now, what.c_str());
    }
  }

  bool verbose_;
  SimEnv sim_;
  Env env_;
  ScriptedService service_;
  std::deque<Replica> replicas_;
  TaskGroup group_;
  TaskGroup trouble_;
  std::set<ObjectKey> in_work_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> violations_;
};

}  // namespace
}  // namespace codeflare::sim

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_controller", [](const codeflare::sim::Run& run) {
    return codeflare::sim::World(run).run();
  });
}
