// Watchers and informers on a bad network: writers change objects through one faulty link, the
// others follow through another, while the server compacts its history and drops connections. Every
// change must reach every watcher once and in order, the handlers of every informer must hear a
// chain without a gap, and after the faults their maps equal the server's state.

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "kube/retry.h"
#include "kube/testing/scripted_service.h"
#include "kube/watcher.h"
#include "net/sim_link.h"
#include "runtime/informer.h"
#include "tests/sim/fault_mix.h"
#include "tests/sim/informer_check.h"
#include "tests/sim/sim_main.h"
#include "tests/sim/watch_check.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <utility>

namespace codeflare::sim {
namespace {

using kube::Client;
using kube::ObjectKey;
using kube::ObjectRef;
using kube::testing::ScriptedOptions;
using kube::testing::ScriptedService;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const kube::ResourceType kPods{"", "v1", "Pod", "pods", true};
constexpr Duration kTrouble = minutes(4);
constexpr Duration kPatience = minutes(15);
constexpr std::uint64_t kNames = 8;

class World {
 public:
  explicit World(const Run& run)
      : verbose_(run.verbose),
        sim_({.seed = run.seed, .shuffle = run.seed % 2 == 0}),
        env_(sim_.env()),
        service_(env_, server_options()),
        watch_link_(service_, env_.random, faults()),
        write_link_(service_, env_.random, faults()),
        reader_(env_, watch_link_),
        writer_(env_, write_link_),
        group_(env_.loop),
        trouble_(env_.loop) {
    service_.set_observer([this](const Truth::Change& change) {
      truth_.add(change);
      say((change.deleted ? "server: delete " : "server: write ") +
          change.after->key().to_string() + "@" + std::to_string(change.revision));
    });
  }

  Outcome run() {
    const bool ended = codeflare::run(env_.loop, story());
    Outcome outcome;
    outcome.trace_hash = sim_.trace_hash();
    outcome.violations = std::move(violations_);
    if (!ended) {
      outcome.violations.push_back("the simulation came to a standstill");
    }
    for (const Follower& follower : followers_) {
      const auto& more = follower.check.violations();
      outcome.violations.insert(outcome.violations.end(), more.begin(), more.end());
      outcome.counts["events"] += follower.check.events();
      outcome.counts["lists"] += follower.check.lists();
    }
    for (const Listener& listener : listeners_) {
      const auto& more = listener.check.violations();
      outcome.violations.insert(outcome.violations.end(), more.begin(), more.end());
      outcome.counts["informer changes"] += listener.check.changes();
    }
    outcome.counts["writes"] = writes_;
    outcome.counts["failed writes"] = failed_writes_;
    outcome.counts["compactions"] = compactions_;
    outcome.counts["partitions"] = partitions_;
    outcome.counts["faults"] = watch_link_.counts().faults + write_link_.counts().faults;
    return outcome;
  }

 private:
  struct Follower {
    Follower(Client& client, kube::WatcherOptions options, WatchCheck check_in)
        : watcher(client, kPods, std::move(options)), check(std::move(check_in)) {}
    kube::Watcher watcher;
    WatchCheck check;
  };

  struct Listener {
    Listener(Env env, Client& client, runtime::InformerOptions options, InformerCheck check_in)
        : informer(env, client, kPods, std::move(options)), check(std::move(check_in)) {}
    runtime::Informer informer;
    InformerCheck check;
  };

  // A number below `bound` from the seed.
  std::uint64_t pick(std::uint64_t bound) { return env_.random.below(bound); }
  Duration up_to(Duration longest) { return sim::up_to(env_.random, longest); }

  ScriptedOptions server_options() {
    ScriptedOptions options;
    options.watch_list = static_cast<ScriptedOptions::WatchList>(pick(3));
    options.initial_mark_delay = up_to(seconds(3));
    options.bookmark_interval = seconds(5) + up_to(seconds(60));
    options.history_max = 10 + pick(300);
    options.stale_revisions_max = pick(2) == 0 ? 0 : 20;
    options.replayed_revisions = pick(3) == 0 ? pick(6) : 0;
    return options;
  }

  net::LinkFaults faults() {
    return fault_mix(env_.random, {.piece_delay = milliseconds(100), .pieces_before_fault = 40});
  }

  Task<void> story() {
    add_follower("all", {}, [](const kube::Object&) { return true; });
    add_follower("labelled", {.label_selector = "app=web", .page_limit = 3},
                 [](const kube::Object& o) { return o.labels_json().contains("\"web\""); });
    add_follower("listed", {.ns = "a", .metadata_only = true, .page_limit = 2, .watch_list = false},
                 [](const kube::Object& o) { return o.ns() == "a"; });
    add_listener("informer", {}, [](const kube::Object&) { return true; });
    add_listener("labelled informer", {.label_selector = "app=web", .page_limit = 3},
                 [](const kube::Object& o) { return o.labels_json().contains("\"web\""); });
    for (int i = 0; i < 2; ++i) {
      trouble_.spawn(write_for_ever(i));
    }
    trouble_.spawn(make_trouble());
    (void)co_await sleep_for(kTrouble);
    co_await trouble_.close();
    watch_link_.heal();
    write_link_.heal();
    say("healed");
    co_await settle();
    co_await group_.close();
  }

  void add_follower(std::string name, kube::WatcherOptions options, Truth::Selects selects) {
    followers_.emplace_back(reader_, std::move(options),
                            WatchCheck(name, truth_, std::move(selects)));
    group_.spawn(follow(&followers_.back(), std::move(name)));
  }

  void add_listener(std::string name, kube::WatcherOptions options, Truth::Selects selects) {
    runtime::InformerOptions informer_options;
    informer_options.watch = std::move(options);
    Listener& listener = listeners_.emplace_back(env_, reader_, std::move(informer_options),
                                                 InformerCheck(name, truth_, std::move(selects)));
    listener.informer.add_handler([this, &listener, name](const runtime::ObjectChange& change) {
      const kube::Object& object = change.now ? *change.now : *change.old;
      say(name + (change.now ? ": has " : ": lost ") + object.key().to_string() + "@" +
          std::string(object.resource_version()));
      listener.check.observe(change, listener.informer);
    });
    group_.spawn(listener.informer.run());
  }

  Task<void> follow(Follower* follower, std::string name) {
    while (true) {
      Result<kube::WatcherEvent> event = co_await follower->watcher.next();
      if (!event) {
        co_return;
      }
      static constexpr const char* kTypes[] = {"begin",   "init",    "done",
                                               "applied", "deleted", "progress"};
      say(name + ": " + kTypes[static_cast<int>(event->type)] + " " +
          (event->object ? event->object->key().to_string() : std::string()) + "@" +
          (event->object ? std::string(event->object->resource_version())
                         : event->resource_version));
      follower->check.observe(*event);
      // A slow reader now and then.
      if (pick(20) == 0) {
        (void)co_await sleep_for(up_to(seconds(2)));
      }
    }
  }

  Task<void> write_for_ever(int id) {
    while (co_await sleep_for(up_to(seconds(2)))) {
      const ObjectKey key{pick(2) == 0 ? "a" : "b", "n" + std::to_string(pick(kNames))};
      const std::uint64_t choice = pick(10);
      Result<ObjectRef> written;
      if (choice < 2) {
        written = co_await writer_.remove(kPods, key);
      } else if (choice < 4) {
        written = co_await writer_.patch(kPods, key, kube::PatchKind::merge,
                                         std::string(R"({"metadata":{"labels":{"app":")") +
                                             (pick(2) == 0 ? "web" : "db") + "\"}}}");
      } else {
        written = co_await kube::retry_on_conflict(env_, [&] { return read_and_write(key); });
      }
      note(id, key, written);
    }
  }

  Task<Result<ObjectRef>> read_and_write(ObjectKey key) {
    const std::string spec = R"(},"spec":{"n":)" + std::to_string(pick(1'000'000)) + "}}";
    const std::string head = R"({"metadata":{"namespace":")" + key.ns + R"(","name":")" + key.name +
                             R"(","labels":{"app":")" + (pick(2) == 0 ? "web" : "db") + "\"}";
    Result<ObjectRef> old = co_await writer_.get(kPods, key);
    if (!old && old.error().code == ErrorCode::not_found) {
      co_return co_await writer_.create(kPods, key.ns, head + spec);
    }
    if (!old) {
      co_return old;
    }
    const std::string version =
        R"(,"resourceVersion":")" + std::string((*old)->resource_version()) + "\"";
    co_return co_await writer_.update(kPods, key, head + version + spec);
  }

  void note(int id, const ObjectKey& key, const Result<ObjectRef>& written) {
    ++writes_;
    const std::string result = written ? "done" : written.error().to_string();
    say("writer " + std::to_string(id) + ": " + key.to_string() + " " + result);
    if (written) {
      return;
    }
    ++failed_writes_;
    const ErrorCode code = written.error().code;
    if (code == ErrorCode::invalid_argument || code == ErrorCode::data_loss) {
      violations_.push_back("a write failed in a way that no fault explains: " + result);
    }
  }

  Task<void> make_trouble() {
    while (co_await sleep_for(up_to(seconds(20)))) {
      switch (pick(4)) {
        case 0:
          say("compact");
          ++compactions_;
          service_.compact();
          break;
        case 1:
          say("end all watches");
          service_.end_watches();
          break;
        case 2:
          say("break all watches");
          service_.break_watches();
          break;
        default: {
          say("partition");
          ++partitions_;
          watch_link_.partition();
          Result<void> waited = co_await sleep_for(up_to(seconds(40)));
          watch_link_.heal();
          watch_link_.set_faults(faults());
          if (!waited) {
            co_return;
          }
        }
      }
    }
  }

  // Waits until every map equals the server's state; with no faults left it must come soon.
  Task<void> settle() {
    const Instant deadline = after(env_.loop.now(), kPatience);
    const std::uint64_t last = service_.revision();
    auto settled = [&] {
      return std::ranges::all_of(followers_,
                                 [&](const Follower& f) { return f.check.equals(last); }) &&
             std::ranges::all_of(listeners_,
                                 [&](const Listener& l) { return l.check.equals(last); });
    };
    while (!settled() && env_.loop.now() < deadline) {
      (void)co_await sleep_for(seconds(5));
    }
    for (Follower& follower : followers_) {
      follower.check.finish(last);
    }
    for (Listener& listener : listeners_) {
      listener.check.finish(last);
    }
  }

  void say(const std::string& what) {
    sim_.trace(what);
    if (verbose_) {
      const auto ms = std::chrono::duration_cast<milliseconds>(env_.loop.now().time_since_epoch());
      std::printf("%10.3f %s\n", static_cast<double>(ms.count()) / 1e3, what.c_str());
    }
  }

  bool verbose_;
  SimEnv sim_;
  Env env_;
  Truth truth_;
  ScriptedService service_;
  net::SimLink watch_link_;
  net::SimLink write_link_;
  Client reader_;
  Client writer_;
  std::deque<Follower> followers_;
  std::deque<Listener> listeners_;
  TaskGroup group_;
  TaskGroup trouble_;
  std::vector<std::string> violations_;
  std::uint64_t writes_ = 0;
  std::uint64_t failed_writes_ = 0;
  std::uint64_t compactions_ = 0;
  std::uint64_t partitions_ = 0;
};

}  // namespace
}  // namespace codeflare::sim

int main(int argc, char** argv) {
  return codeflare::sim::sim_main(argc, argv, "sim_watch", [](const codeflare::sim::Run& run) {
    return codeflare::sim::World(run).run();
  });
}
