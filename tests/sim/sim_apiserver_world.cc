#include "tests/sim/sim_apiserver_world.h"

#include "apiserver/server/api_server.h"
#include "apiserver/store/memory_log.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "examples/hello_controller/hello.h"
#include "net/sim_link.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_apiserver_definitions.h"
#include "tests/sim/sim_apiserver_early_log.h"
#include "tests/sim/sim_apiserver_gate.h"
#include "tests/sim/sim_apiserver_ledger.h"
#include "tests/sim/sim_apiserver_writer.h"
#include "tests/sim/watch_check.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::sim {
namespace {

using apiserver::ApiServer;
using apiserver::MemoryDisk;
using hello::kConfigMaps;
using hello::kGreetings;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTrouble = minutes(4);
// A stream that fell silent is given up five minutes after it opened, and retries that were put off
// during the faults still come.
constexpr Duration kPatience = minutes(30);
constexpr Duration kQuiet = minutes(20);
constexpr int kWriters = 3;
constexpr int kForEver = 1'000'000;
constexpr std::uint64_t kSwallowEvery = 40;
const std::string kGreetingCollection = "greetings.examples.codeflare.dev";
const kube::ResourceType kDefinitions{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                                      "customresourcedefinitions", false};
const kube::ResourceType kQuotas{"", "v1", "ResourceQuota", "resourcequotas", true};

// As examples/hello_controller/crd.yaml says.
constexpr std::string_view kGreetingDefinition =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":)"
    R"({"name":"greetings.examples.codeflare.dev"},"spec":{"group":"examples.codeflare.dev",)"
    R"("scope":"Namespaced","names":{"kind":"Greeting","plural":"greetings","singular":)"
    R"("greeting"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":)"
    R"({"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":)"
    R"("object","properties":{"name":{"type":"string"}}},"status":{"type":"object",)"
    R"("properties":{"message":{"type":"string"}}}}}}}]}})";

class World {
 public:
  World(const Run& run, Planted planted)
      : verbose_(run.verbose),
        planted_(planted),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        disk_(std::make_shared<MemoryDisk>()),
        gate_(ledger_),
        group_(env_.loop),
        trouble_(env_.loop),
        controller_(*this),
        watch_link_(gate_, env_.random, faults()),
        reader_(env_, watch_link_),
        admin_(env_, gate_),
        definer_(*this) {
    gate_.swallow_every(planted == Planted::swallowed_event ? kSwallowEvery : 0);
    for (int i = 0; i < kWriters; ++i) {
      writers_.emplace_back(*this, "writer " + std::to_string(i));
    }
  }

  Outcome run() {
    if (!codeflare::run(env_.loop, story())) {
      violations_.push_back("the simulation came to a standstill");
    }
    Outcome outcome{sim_.trace_hash(), std::move(violations_), counts_};
    const auto add = [&](const std::vector<std::string>& more) {
      outcome.violations.insert(outcome.violations.end(), more.begin(), more.end());
    };
    add(ledger_.violations());
    add(gate_.violations());
    for (const Follower& follower : followers_) {
      add(follower.check.violations());
      outcome.counts["events"] += follower.check.events();
      outcome.counts["lists"] += follower.check.lists();
    }
    outcome.counts["faults"] = watch_link_.counts().faults + controller_.link.counts().faults +
                               definer_.link.counts().faults;
    for (const auto& [what, count] : definer_.hand.counts()) {
      outcome.counts[what] += count;
    }
    for (const Writer& writer : writers_) {
      outcome.counts["faults"] += writer.link.counts().faults;
      for (const auto& [what, count] : writer.hand.counts()) {
        outcome.counts[what] += count;
      }
    }
    outcome.counts["failed starts"] += 0;
    outcome.counts["commits"] = ledger_.commits();
    outcome.counts["answers"] = ledger_.answers();
    outcome.counts["unheard writes kept"] = ledger_.surprises();
    for (const int status : {403, 404, 409, 410, 503}) {
      outcome.counts["answers " + std::to_string(status)] = gate_.refusals(status);
    }
    return outcome;
  }

 private:
  // hello_controller as a process: it comes back whenever it ends.
  struct Controller {
    explicit Controller(World& world_in)
        : world(world_in),
          link(world.gate_, world.env_.random, world.faults()),
          client(world.env_, link) {}

    Task<void> live() {
      const TaskContext& context = co_await current_context();
      while (!context.stop.stop_requested()) {
        runtime::Manager manager(world.env_, client, {.name = "hello-controller"});
        manager.controller("greetings")
            .reconciles(kGreetings)
            .owns(kConfigMaps)
            .workers(2)
            .with<hello::Hello>();
        crash = StopSource();
        Result<void> end = co_await with_stop(crash.token(), manager.run());
        world.say(end ? "controller stopped" : "controller failed: " + end.error().to_string());
        (void)co_await sleep_for(world.up_to(seconds(5)));
      }
    }

    World& world;
    net::SimLink link;
    kube::Client client;
    StopSource crash;
  };

  struct Writer {
    Writer(World& world, const std::string& name)
        : link(world.gate_, world.env_.random, world.faults()),
          client(world.env_, link, {.user_agent = name.substr(0, 6) + name.substr(7)}),
          hand(world.env_, client, name, [&world](const std::string& what) { world.say(what); }) {}
    net::SimLink link;
    kube::Client client;
    RandomWriter hand;
  };

  struct Definer {
    explicit Definer(World& world)
        : link(world.gate_, world.env_.random, world.faults()),
          client(world.env_, link, {.user_agent = "definer"}),
          hand(world.env_, client, [&world](const std::string& what) { world.say(what); }) {}
    net::SimLink link;
    kube::Client client;
    DefinitionWriter hand;
  };

  struct Follower {
    Follower(kube::Client& client, const kube::ResourceType& type, kube::WatcherOptions options,
             WatchCheck check_in)
        : watcher(client, type, std::move(options)), check(std::move(check_in)) {}
    kube::Watcher watcher;
    WatchCheck check;
  };

  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }

  net::LinkFaults faults() {
    return fault_mix(env_.random, {.lost_request = 0.03,
                                   .cut_stream = 0.6,
                                   .silent_stream = 0.1,
                                   .piece_delay = milliseconds(20),
                                   .pieces_before_fault = 60});
  }

  Task<void> story() {
    if (pick(3) == 0) {
      fail_disk();
    }
    co_await start_server();
    if (!co_await set_up()) {
      co_return;
    }
    group_.spawn(controller_.live());
    add_follower("maps", kConfigMaps, {}, [](const kube::Object&) { return true; });
    add_follower("labelled", kConfigMaps, {.label_selector = "app=web", .page_limit = 3},
                 [](const kube::Object& o) { return o.labels_json().contains("\"web\""); });
    add_follower("listed", kGreetings,
                 {.ns = "default", .metadata_only = true, .page_limit = 2, .watch_list = false},
                 [](const kube::Object& o) { return o.ns() == "default"; });
    add_follower("namespaces", kNamespaces, {}, [](const kube::Object&) { return true; });
    for (Writer& writer : writers_) {
      trouble_.spawn(writer.hand.work(over_));
    }
    trouble_.spawn(definer_.hand.work(over_));
    trouble_.spawn(trouble_network());
    trouble_.spawn(trouble_server());
    (void)co_await sleep_for(kTrouble);
    over_ = true;
    co_await trouble_.join();
    heal();
    co_await settle();
    co_await group_.close();
    co_await stop_server();
  }

  Task<bool> set_up() {
    auto check = [this](const Result<kube::ObjectRef>& made) {
      if (!made) {
        violations_.push_back("setting up: " + made.error().to_string());
      }
      return made.has_value();
    };
    const std::string ns = R"({"metadata":{"name":")" + kQuotaNamespace + "\"}}";
    const std::string quota = R"({"metadata":{"name":"maps"},"spec":{"hard":{"configmaps":")" +
                              std::to_string(kQuota) + "\"}}}";
    const bool done =
        check(co_await admin_.create(kDefinitions, "", std::string(kGreetingDefinition))) &&
        check(co_await admin_.create(kNamespaces, "", ns)) &&
        check(co_await admin_.create(kQuotas, kQuotaNamespace, quota));
    ledger_.set_limit("configmaps", kQuotaNamespace, kQuota);
    co_return done;
  }

  void add_follower(std::string name, const kube::ResourceType& type, kube::WatcherOptions options,
                    Truth::Selects selects) {
    const std::string collection = type == kGreetings ? kGreetingCollection : type.plural;
    followers_.emplace_back(reader_, type, std::move(options),
                            WatchCheck(name, ledger_.truth(collection), std::move(selects)));
    group_.spawn(follow(&followers_.back(), std::move(name)));
  }

  Task<void> follow(Follower* follower, std::string name) {
    while (true) {
      Result<kube::WatcherEvent> event = co_await follower->watcher.next();
      if (!event) {
        co_return;
      }
      say(name + ": " + std::to_string(static_cast<int>(event->type)) + " " +
          (event->object ? event->object->key().to_string() : std::string()) + "@" +
          (event->object ? std::string(event->object->resource_version())
                         : event->resource_version));
      follower->check.observe(*event);
    }
  }

  // Until it runs: the disk may fail it.
  Task<void> start_server() {
    while (true) {
      metrics_.push_back(std::make_unique<MetricsRegistry>());
      ApiServer::Options options{.data_directory = "/data"};
      options.open_log = [this]() -> Result<std::unique_ptr<apiserver::Log>> {
        std::unique_ptr<apiserver::Log> log = open_memory_log(disk_);
        if (planted_ == Planted::early_acknowledgement) {
          log = std::make_unique<EarlyLog>(std::move(log));
        }
        return log;
      };
      options.on_open = [this](apiserver::Store& store) {
        store_ = &store;
        ledger_.opened(store);
      };
      Result<std::unique_ptr<ApiServer>> started =
          co_await ApiServer::start(env_, std::move(options), logger(), *metrics_.back());
      if (started) {
        server_ = std::move(*started);
        gate_.open(server_->service());
        say("server started at " + std::to_string(ledger_.revision()));
        co_return;
      }
      store_ = nullptr;
      counts_["failed starts"] += 1;
      say("server did not start: " + started.error().to_string());
      if (started.error().code == ErrorCode::data_loss) {
        // No later start can heal that; the rest of the story runs on a new disk.
        violations_.push_back("lost on disk: " + started.error().message);
        disk_ = std::make_shared<MemoryDisk>();
        continue;
      }
      disk_->crash();
      (void)co_await sleep_for(up_to(seconds(5)));
    }
  }

  Task<void> stop_server() {
    gate_.reset();
    co_await server_->stop({});
    co_await gate_.drained();
    store_ = nullptr;
    server_.reset();
  }

  Task<void> crash_server() {
    say("server crashes at " + std::to_string(ledger_.revision()));
    counts_["server crashes"] += 1;
    // In this order: what the old one still does reaches neither the disk nor anybody.
    disk_->crash();
    sim_.crash_files();
    co_await stop_server();
    (void)co_await sleep_for(up_to(seconds(10)));
    if (pick(3) == 0) {
      fail_disk();
    }
    co_await start_server();
  }

  void fail_disk() {
    const int count = 1 + static_cast<int>(pick(4));
    if (pick(2) == 0) {
      say("disk full");
      counts_["full disks"] += 1;
      disk_->fail_appends({resource_exhausted("the simulated disk is full"), count});
      return;
    }
    say("sync fails");
    counts_["failed syncs"] += 1;
    disk_->fail_appends({internal_error("the simulated sync failed"), 1, pick(2) == 0});
    if (pick(2) == 0) {
      disk_->fail_rebuilds({internal_error("the simulated disk failed"), count, pick(2) == 0});
    }
  }

  Task<void> trouble_server() {
    while (!over_) {
      (void)co_await sleep_for(up_to(seconds(40)));
      switch (pick(4)) {
        case 0:
          say("history forgotten");
          counts_["histories forgotten"] += 1;
          store_->forget(store_->revision() - std::min(store_->revision(), pick(20)));
          break;
        case 1:
          fail_disk();
          break;
        case 2:
          // A sync whose end nobody sees: the disk has it, but no client an answer until the crash.
          disk_->fail_appends({internal_error("the simulated sync failed"), 1, true});
          disk_->fail_rebuilds({internal_error("the simulated disk failed"), kForEver});
          (void)co_await sleep_for(up_to(seconds(10)));
          co_await crash_server();
          break;
        default:
          co_await crash_server();
      }
    }
  }

  Task<void> trouble_network() {
    while (!over_) {
      (void)co_await sleep_for(up_to(seconds(40)));
      const std::uint64_t choice = pick(5);
      net::SimLink& link = choice < 2    ? controller_.link
                           : choice == 2 ? watch_link_
                           : choice == 3 ? definer_.link
                                         : writers_[pick(writers_.size())].link;
      link.partition();
      if (choice == 0) {
        // Killed: it says nothing more to anybody.
        say("controller crashes");
        counts_["controller crashes"] += 1;
        controller_.crash.request_stop();
      } else {
        say("partition");
        counts_["partitions"] += 1;
      }
      (void)co_await sleep_for(up_to(seconds(20)));
      link.heal();
      link.set_faults(faults());
    }
  }

  void heal() {
    watch_link_.heal();
    controller_.link.heal();
    definer_.link.heal();
    for (Writer& writer : writers_) {
      writer.link.heal();
    }
    say("healed");
  }

  Task<void> settle() {
    const Instant deadline = after(env_.loop.now(), kPatience);
    std::string left = "everything";
    // A disk that was full is known to have room again only when somebody writes.
    while (!co_await write_last() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(seconds(1));
    }
    while (!left.empty() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(seconds(10));
      left = co_await what_is_left();
    }
    if (!left.empty()) {
      violations_.push_back("long after the faults: " + left);
    }
    // Retries that were put off still come; then nothing may be written any more.
    (void)co_await sleep_for(kQuiet);
    const std::string before = versions();
    (void)co_await sleep_for(minutes(2));
    if (versions() != before) {
      violations_.push_back("still writing when all is done: " + versions() + "after " + before);
    }
    if (!server_->idle() || store_->degraded()) {
      violations_.push_back("the server has something left to do");
    }
    ledger_.check_rest();
    if (!ledger_.objects(kDefinitionCollection).contains({"", kTrinketCollection}) &&
        !ledger_.objects(kTrinketCollection).empty()) {
      violations_.push_back("trinkets survived their definition");
    }
    for (Follower& follower : followers_) {
      follower.check.finish(ledger_.revision());
    }
  }

  Task<bool> write_last() {
    const Result<kube::ObjectRef> made = co_await admin_.apply(
        kConfigMaps, {"default", "last"},
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"last"}})");
    co_return made.has_value();
  }

  Task<std::string> what_is_left() {
    if (!co_await writers_.front().hand.let_go()) {
      co_return "objects that wait for their finalizer";
    }
    if (!co_await definer_.hand.let_go()) {
      co_return "trinkets that wait for their finalizer";
    }
    if (!server_->idle()) {
      co_return "the server is not idle";
    }
    const bool followed = std::ranges::all_of(
        followers_, [&](const Follower& f) { return f.check.equals(ledger_.revision()); });
    co_return followed ? all_greeted() : "watchers that are behind";
  }

  // The missing greeting, or nothing.
  std::string all_greeted() {
    const Ledger::Objects& maps = ledger_.objects("configmaps");
    for (const auto& [key, greeting] : ledger_.objects(kGreetingCollection)) {
      const std::string text = "Hello, " + greeting->string_at({"spec", "name"}) + "!";
      const auto map = maps.find(key);
      if (map == maps.end() || map->second->string_at({"data", "text"}) != text) {
        return key.to_string() + " has no ConfigMap that says " + text;
      }
      if (greeting->string_at({"status", "message"}) != text) {
        return key.to_string() + " does not say " + text + " in its status";
      }
    }
    return {};
  }

  std::string versions() {
    std::string text;
    for (const std::string& collection :
         {std::string("configmaps"), std::string("namespaces"), std::string("resourcequotas"),
          kGreetingCollection, kDefinitionCollection, kTrinketCollection}) {
      for (const auto& [key, object] : ledger_.objects(collection)) {
        text += key.to_string() + "@" + std::string(object->resource_version()) + " ";
      }
    }
    return text;
  }

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
  Planted planted_;
  SimEnv sim_;
  Env env_;
  std::shared_ptr<MemoryDisk> disk_;
  Ledger ledger_;
  Gate gate_;
  std::deque<std::unique_ptr<MetricsRegistry>> metrics_;
  apiserver::Store* store_ = nullptr;
  std::unique_ptr<ApiServer> server_;
  TaskGroup group_;
  TaskGroup trouble_;
  Controller controller_;
  net::SimLink watch_link_;
  kube::Client reader_;
  kube::Client admin_;
  Definer definer_;
  std::deque<Writer> writers_;
  std::deque<Follower> followers_;
  bool over_ = false;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> violations_;
};

}  // namespace

Outcome run_apiserver(const Run& run, Planted planted) {
  return World(run, planted).run();
}

}  // namespace codeflare::sim
