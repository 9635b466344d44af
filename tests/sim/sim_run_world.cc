#include "tests/sim/sim_run_world.h"

#include "apiserver/server/api_server.h"
#include "apiserver/store/store.h"
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log.h"
#include "base/metrics.h"
#include "controllers/crds/ensure_crds.h"
#include "controllers/platform/platform_controller.h"
#include "controllers/run/run_controller.h"
#include "kube/client.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/core.h"
#include "model/codec/platform.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/sim_queue_process.h"
#include "tests/sim/sim_run_judge.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
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
// A stream that fell silent is given up five minutes after it opened.
constexpr Duration kPatience = minutes(30);
constexpr Duration kQuiet = minutes(10);
constexpr std::uint64_t kNames = 8;  // of Runs: few, so that names are used again

const model::ResourceType kRuns = model::resource_type<model::Run>();
const model::ResourceType kWrappers = model::resource_type<model::AppWrapper>();
const model::ResourceType kSecrets = model::resource_type<model::Secret>();

net::Peer administrator() {
  return {.address = "simulation",
          .certificate =
              net::Peer::Certificate{.common_name = "admin", .organizations = {"system:masters"}}};
}

class World {
 public:
  World(const Run& run, RunBug bug)
      : verbose_(run.verbose),
        bug_(bug),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
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
    outcome.counts["faults"] += controller_ == nullptr ? 0 : controller_->faults();
    for (const char* what : {"killed", "cut off", "history forgotten", "created", "deleted",
                             "cancelled", "AppWrappers", "phase Completed", "phase Failed"}) {
      outcome.counts[what] += 0;
    }
    return outcome;
  }

 private:
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }
  bool is_well() const { return violations_.empty() && judge_.well(); }

  Task<void> story() {
    if (co_await set_up()) {
      group_.spawn(watch());
      trouble_.spawn(use());
      trouble_.spawn(make_trouble());
      group_.spawn(queue());
      const Instant end = after(env_.loop.now(), kTrouble);
      while (is_well() && env_.loop.now() < end) {
        (void)co_await sleep_for(seconds(1));
      }
      co_await trouble_.close();
      co_await rest();
    }
    co_await group_.close();
    if (server_ != nullptr) {
      co_await server_->stop({});
    }
  }

  Task<bool> set_up() {
    ApiServer::Options options{.data_directory = "/data",
                               .durability = apiserver::Durability::memory};
    options.on_open = [this](apiserver::Store& store) { store_ = &store; };
    auto started = co_await ApiServer::start(env_, std::move(options), logger(), metrics_);
    if (!started) {
      violations_.push_back("no server: " + started.error().to_string());
      co_return false;
    }
    server_ = *std::move(started);
    service_ = std::make_unique<net::InProcessService>(server_->service(), administrator());
    admin_ = std::make_unique<kube::Client>(env_, *service_);
    const auto defined = co_await controllers::ensure_crds(*admin_, {});
    if (!defined) {
      violations_.push_back("no definitions: " + defined.error().to_string());
      co_return false;
    }
    co_await create("secrets", "git", R"("stringData":{"user":"u","pat":"p"})");
    co_await create("platformreposecrets", "git",
                    R"("spec":{"repo":"h","secret":{"name":"git","namespace":"default"}})");
    SimProcess::Options process{.name = "controller", .server = service_.get()};
    process.equip = [](runtime::Manager& manager) {
      controllers::runs::add_run_controller(manager, nullptr);
      controllers::platform_kinds::add_platform_controllers(manager);
    };
    process.faults = [this] {
      return fault_mix(env_.random,
                       {.lost_request = 0.05, .cut_stream = 0.5, .silent_stream = 0.1});
    };
    process.say = [this](const std::string& what) { say(what); };
    process.logger = logger();
    controller_ = std::make_unique<SimProcess>(env_, group_, std::move(process));
    controller_->start();
    co_return true;
  }

  Logger logger() { return Logger(env_.clock, LogLevel::error, stderr_log_sink(LogFormat::text)); }

  // --- users ---

  Task<void> create(std::string plural, std::string name, std::string members) {
    const bool core = plural == "secrets";
    const bool cluster = plural == "platformreposecrets";
    std::string body = std::string(R"({"apiVersion":")") +
                       (core ? "v1" : "codeflare.dev/v1alpha1") + R"(","kind":")" +
                       (core                       ? "Secret"
                        : cluster                  ? "PlatformRepoSecret"
                        : plural == "applications" ? "Application"
                                                   : "Run") +
                       R"(","metadata":{"name":")" + name + R"("},)" + members + "}";
    const std::string path = core ? "/api/v1/namespaces/default/secrets"
                             : cluster
                                 ? "/apis/codeflare.dev/v1alpha1/platformreposecrets"
                                 : "/apis/codeflare.dev/v1alpha1/namespaces/default/" + plural;
    auto made = co_await admin_->raw({.method = "POST", .target = path, .body = std::move(body)});
    if (made) {
      counts_["created"] += plural == "runs" ? 1 : 0;
      say("created " + plural + "/" + name);
    } else if (made.error().code != ErrorCode::already_exists &&
               made.error().code != ErrorCode::cancelled) {
      violations_.push_back(plural + "/" + name + ": " + made.error().to_string());
    }
  }

  Task<void> use() {
    while (co_await sleep_for(up_to(seconds(4)))) {
      const std::string name = "r" + std::to_string(pick(kNames));
      switch (pick(8)) {
        case 0:
          co_await create("applications", "a" + std::to_string(pick(2)),
                          pick(2) == 0 ? R"("spec":{"api":"shell","image":"i","command":"c"})"
                                       : R"("spec":{"api":"shell","image":"i","command":"c",)"
                                         R"("repo":"https://h/o/r"})");
          break;
        case 1: {
          // Its user may want it back at once.
          auto gone = co_await admin_->remove(kRuns, {"default", name},
                                              {.propagation_policy = "Background"});
          counts_["deleted"] += gone ? 1 : 0;
          say("deleted runs/" + name);
          break;
        }
        case 2: {
          auto done = co_await patch(
              kRuns, name, R"({"metadata":{"annotations":{"codeflare.dev/cancel":"x"}}})");
          counts_["cancelled"] += done ? 1 : 0;
          break;
        }
        case 3:
          (void)co_await patch(kRuns, name,
                               pick(2) == 0 ? R"({"spec":{"suspend":true}})"
                                            : R"({"spec":{"suspend":false,"priority":"high"}})");
          break;
        default:
          co_await create("runs", name,
                          R"("spec":{"application":{"name":"a)" + std::to_string(pick(3)) +
                              R"("},"size":"xxs")" +
                              (pick(4) == 0 ? R"(,"ttlSecondsAfterFinished":20)" : "") + "}");
      }
    }
  }

  Task<Result<kube::ObjectRef>> patch(model::ResourceType type, std::string name, std::string body,
                                      std::string subresource = {}) {
    co_return co_await admin_->patch(std::move(type), {"default", std::move(name)},
                                     kube::PatchKind::merge, std::move(body),
                                     {.subresource = std::move(subresource)});
  }

  // --- the queue, and bugs ---

  Task<void> queue() {
    while (co_await sleep_for(seconds(1) + up_to(seconds(3)))) {
      RunView view = co_await see();
      for (const model::AppWrapper& wrapper : view.wrappers) {
        const std::string& state = wrapper.status.state;
        if (wrapper.metadata.deleting() || wrapper.spec.suspend.value_or(false) || pick(3) == 0) {
          continue;
        }
        const char* next = state == "Running"   ? (pick(3) == 0 ? "Failed" : "Completed")
                           : state.empty()      ? "Pending"
                           : state == "Pending" ? "Running"
                                                : nullptr;
        if (next != nullptr) {
          (void)co_await patch(kWrappers, wrapper.metadata.name,
                               std::string(R"({"status":{"state":")") + next + R"("}})", "status");
        }
      }
      co_await misbehave(std::move(view));
    }
  }

  Task<void> misbehave(RunView view) {
    if (bug_ == RunBug::goes_back) {
      for (const model::Run& run : view.runs) {
        if (model::is_terminal(run.status)) {
          (void)co_await patch(kRuns, run.metadata.name, R"({"status":{"phase":"Running"}})",
                               "status");
        }
      }
    } else if (bug_ != RunBug::none && !view.wrappers.empty()) {
      model::AppWrapper copy = view.wrappers.front();
      copy.metadata.name += "-again";
      copy.metadata.uid.clear();
      copy.metadata.resource_version.clear();
      if (bug_ == RunBug::left_behind) {
        copy.metadata.owner_references = {};
      }
      (void)co_await admin_->create(kWrappers, "default", model::to_json_text(copy));
    }
  }

  // --- trouble ---

  Task<void> make_trouble() {
    while (co_await sleep_for(seconds(1) + up_to(seconds(15)))) {
      switch (pick(4)) {
        case 0:
          counts_["history forgotten"] += 1;
          store_->forget(store_->revision() - std::min(store_->revision(), pick(20)));
          break;
        case 1:
          counts_["cut off"] += 1;
          controller_->cut_off();
          (void)co_await sleep_for(up_to(seconds(20)));
          controller_->reconnect();
          break;
        default:
          counts_["killed"] += 1;
          controller_->kill();
          (void)co_await sleep_for(up_to(seconds(10)));
          if (!controller_->alive()) {
            controller_->start();
          }
      }
    }
    if (!controller_->alive()) {
      controller_->start();
    }
  }

  // --- what is seen ---

  template <typename T>
  Task<std::vector<T>> list(model::ResourceType type) {
    std::vector<T> items;
    auto all = co_await admin_->list(std::move(type), {.ns = "default"});
    if (all) {
      for (const kube::ObjectRef& object : all->items) {
        items.push_back(*object->template as<T>());
      }
    } else if (all.error().code != ErrorCode::cancelled) {
      violations_.push_back("no list: " + all.error().to_string());
    }
    co_return items;
  }

  Task<RunView> see() {
    RunView view;
    view.runs = co_await list<model::Run>(kRuns);
    view.wrappers = co_await list<model::AppWrapper>(kWrappers);
    view.secrets = co_await list<model::Secret>(kSecrets);
    co_return view;
  }

  Task<void> watch() {
    while (co_await sleep_for(look_every_)) {
      const RunView view = co_await see();
      judge_.look(view);
    }
  }

  Task<void> rest() {
    controller_->heal();
    look_every_ = seconds(5);
    say("healed");
    // Work that nobody will ever make is given up after a minute; held work stays.
    (void)co_await sleep_for(kPatience);
    const RunView before = co_await see();
    if (is_well()) {
      judge_.look_at_rest(before);
    }
    (void)co_await sleep_for(kQuiet);
    const RunView now = co_await see();
    if (is_well() && RunJudge::versions_of(before) != RunJudge::versions_of(now)) {
      violations_.push_back("somebody writes although there is nothing to do:\n" +
                            RunJudge::versions_of(before) + "now\n" + RunJudge::versions_of(now));
    }
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      std::fprintf(stderr, "%9.3f %s\n",
                   std::chrono::duration<double>(env_.loop.now().time_since_epoch()).count(),
                   what.c_str());
    }
  }

  bool verbose_;
  RunBug bug_;
  Duration look_every_ = milliseconds(250);
  SimEnv sim_;
  Env env_;
  MetricsRegistry metrics_;
  apiserver::Store* store_ = nullptr;
  std::unique_ptr<ApiServer> server_;
  std::unique_ptr<net::InProcessService> service_;
  std::unique_ptr<kube::Client> admin_;
  RunJudge judge_;
  TaskGroup group_;
  TaskGroup trouble_;
  std::unique_ptr<SimProcess> controller_;
  std::vector<std::string> violations_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace

Outcome run_runs(const Run& run, RunBug bug) {
  return World(run, bug).run();
}

}  // namespace codeflare::sim
