#include "up/machines.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/client.h"
#include "model/app_wrapper.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/machines.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "queue/machines.h"
#include "up/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

// Machines on demand in `codeflare up` without its socket: fake nodes, in virtual time.
namespace codeflare::up {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct MachineWorldOptions {
  std::vector<std::string> types;
  controllers::scale::ScaleOptions scale{};
};

class MachineWorld {
 public:
  explicit MachineWorld(const MachineWorldOptions& wanted) {
    UpOptions options;
    options.server.data_directory = "/data";
    options.server.durability = apiserver::Durability::memory;
    options.nodes.count = 1;
    options.nodes.cpus = model::Quantity(2);
    options.scale = wanted.scale;
    for (const std::string& text : wanted.types) {
      options.machine_types.push_back(*parse_machine_type(text));
    }
    group_.spawn(go(std::move(options)));
    for (int i = 0; i < 100 && server_ == nullptr && !end_; ++i) {
      settle(seconds(1));
    }
    CHECK(server_ != nullptr);
    service_ = std::make_unique<net::InProcessService>(
        server_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = "admin",
                                                        .organizations = {"system:masters"}}});
    client = std::make_unique<kube::Client>(env, *service_);
  }
  ~MachineWorld() {
    stop_.request_stop();
    CHECK(run(env.loop, group_.join()));
    EXPECT_TRUE(end_ && *end_);
    for (const std::string& line : log.lines()) {
      EXPECT_FALSE(line.starts_with("ERROR") || line.contains("forbidden")) << line;
    }
  }
  MachineWorld(const MachineWorld&) = delete;
  MachineWorld& operator=(const MachineWorld&) = delete;

  void settle(Duration time) { CHECK(run(env.loop, sleep(time))); }
  // Notes all machines that there are meanwhile.
  void follow(Duration time) {
    for (Duration passed{}; passed < time; passed += milliseconds(100)) {
      settle(milliseconds(100));
      const std::vector<std::string> now = machines();
      most = std::max(most, now.size());
      seen.insert(now.begin(), now.end());
    }
  }
  std::vector<kube::ObjectRef> list(const model::ResourceType& type) {
    auto found = *run(env.loop, client->list_all(type, {}));
    CHECK(found.has_value());
    return found->items;
  }
  std::vector<std::string> machines() {
    std::vector<std::string> names;
    for (const kube::ObjectRef& node : list(model::resource_type<model::Node>())) {
      if (node->labels_json().contains(queue::kRequestLabel)) {
        names.emplace_back(node->name());
      }
    }
    return names;
  }
  std::vector<kube::ObjectRef> requests() {
    return list(model::resource_type<model::MachineRequest>());
  }
  // One pod set of a Job.
  void submit(const std::string& name, int pods, const std::string& cpu,
              const std::string& duration = "20s", const std::string& labels = "") {
    const std::string count = std::to_string(pods);
    const std::string body =
        R"({"metadata":{"name":")" + name + R"(","labels":{)" + labels +
        R"(}},"spec":{"resources":{"GenericItems":[{"replicas":1,"completionstatus":"Complete",)"
        R"("generictemplate":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" +
        name + R"("},"spec":{"parallelism":)" + count + R"(,"completions":)" + count +
        R"(,"template":{"metadata":{"annotations":{"codeflare.dev/duration":")" + duration +
        R"("}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x",)"
        R"("resources":{"requests":{"cpu":")" +
        cpu + R"("}}}]}}}}}]}}})";
    auto made =
        *run(env.loop, client->create(model::resource_type<model::AppWrapper>(), "default", body));
    ASSERT_TRUE(made) << made.error().to_string();
  }
  model::AppWrapperStatus status(const std::string& name) {
    auto found =
        *run(env.loop, client->get(model::resource_type<model::AppWrapper>(), {"default", name}));
    CHECK(found.has_value());
    return (*found)->as<model::AppWrapper>()->status;
  }
  // Reason and message of the newest condition Queued.
  std::string why(const std::string& name) {
    std::string text;
    for (const model::AppWrapperCondition& each : status(name).conditions) {
      if (each.type == "Queued") {
        text = each.reason + ": " + each.message;
      }
    }
    return text;
  }
  std::set<std::string> nodes_of_pods() {
    std::set<std::string> nodes;
    for (const kube::ObjectRef& pod : list(model::resource_type<model::Pod>())) {
      nodes.insert(pod->string_at({"spec", "nodeName"}));
    }
    return nodes;
  }

  SimEnv sim;
  Env env = sim.env();
  MetricsRegistry metrics;
  LogCapture log;
  std::unique_ptr<kube::Client> client;
  std::size_t most = 0;
  std::set<std::string> seen;

 private:
  static Task<void> sleep(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  Task<void> go(UpOptions options) {
    end_ =
        co_await run_up(env, std::move(options), log.logger(env.clock, LogLevel::warn), metrics,
                        stop_.token(), [this](const UpReady& about) { server_ = &about.server; });
  }

  StopSource stop_;
  std::optional<Result<void>> end_;
  apiserver::ApiServer* server_ = nullptr;
  std::unique_ptr<net::InProcessService> service_;
  TaskGroup group_{env.loop};
};

controllers::scale::ScaleOptions fast() {
  controllers::scale::ScaleOptions options;
  options.patience = {.timeout = seconds(30), .down_after = seconds(10)};
  return options;
}

TEST(MachinesOnDemand, a_gang_gets_its_machines_runs_on_them_and_they_go) {
  MachineWorld w({.types = {"big=cpu=8,memory=8Gi,max=2,delay=4"}, .scale = fast()});
  w.submit("pair", 2, "6");
  w.follow(seconds(2));
  EXPECT_EQ(w.machines().size(), 0u);
  EXPECT_TRUE(w.why("pair").starts_with("ScalingUp: asked for 2 machines of type big at "))
      << w.why("pair");
  w.follow(seconds(8));
  EXPECT_EQ(w.status("pair").state, "Running");
  EXPECT_EQ(w.nodes_of_pods().size(), 2u);
  for (const std::string& node : w.nodes_of_pods()) {
    EXPECT_TRUE(node.starts_with("scale-")) << node;
  }
  EXPECT_EQ(w.requests().size(), 1u);
  w.follow(seconds(60));
  EXPECT_EQ(w.status("pair").state, "Completed");
  EXPECT_EQ(w.machines().size(), 0u);
  EXPECT_EQ(w.requests().size(), 0u);
  EXPECT_EQ(w.seen.size(), 2u);
}

TEST(MachinesOnDemand, ten_small_gangs_share_one_machine) {
  MachineWorld w({.types = {"big=cpu=20,memory=8Gi,max=5,delay=2"}, .scale = fast()});
  for (int i = 0; i < 10; ++i) {
    w.submit("small-" + std::to_string(i), 1, "1900m", "15s");
  }
  // The node of the cluster takes the first.
  w.follow(seconds(10));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(w.status("small-" + std::to_string(i)).state, "Running") << i;
  }
  EXPECT_EQ(w.machines().size(), 1u);
  w.follow(seconds(60));
  EXPECT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.machines().size(), 0u);
}

TEST(MachinesOnDemand, what_max_cannot_hold_waits_and_says_so_at_once) {
  MachineWorld w({.types = {"big=cpu=8,memory=8Gi,max=2"}, .scale = fast()});
  w.submit("triple", 3, "6");
  w.follow(seconds(3));
  EXPECT_TRUE(w.why("triple").contains(
      "needs 3 machines of type big, but MachineType big allows max 2 (0 in use)"))
      << w.why("triple");
  EXPECT_EQ(w.requests().size(), 0u);
  EXPECT_EQ(w.most, 0u);
}

TEST(MachinesOnDemand, an_incomplete_set_goes_back_and_the_type_rests) {
  // It takes longer than anybody waits.
  MachineWorld w({.types = {"slow=cpu=8,memory=8Gi,max=2,delay=600",
                            "late=cpu=8,memory=8Gi,max=1,"
                            "cost=5,delay=1"},
                  .scale = fast()});
  w.submit("one", 1, "6", "5s");
  w.follow(seconds(20));
  EXPECT_TRUE(w.why("one").starts_with("ScalingUp: asked for 1 machine of type slow"))
      << w.why("one");
  w.follow(seconds(20));
  // The next type follows.
  EXPECT_NE(w.status("one").state, "Pending") << w.why("one");
  EXPECT_EQ(w.seen.size(), 1u);
  w.follow(seconds(60));
  EXPECT_EQ(w.status("one").state, "Completed");
  EXPECT_EQ(w.machines().size(), 0u);
  EXPECT_EQ(w.requests().size(), 0u);
}

TEST(MachinesOnDemand, machines_that_have_come_are_kept_until_all_are_there) {
  MachineWorld w({.types = {"a=cpu=8,memory=8Gi,max=1,delay=1,label:kind=a",
                            "b=cpu=8,memory=8Gi,max=1,delay=8,label:kind=b"},
                  .scale = fast()});
  w.submit("pair", 2, "6", "20s");
  w.follow(seconds(2));
  // It would fit on the machine that is there, and is behind the pair in line.
  w.submit("small", 1, "4", "5s");
  w.follow(seconds(3));
  EXPECT_EQ(w.machines().size(), 1u);
  EXPECT_EQ(w.nodes_of_pods().size(), 0u) << w.why("small");
  w.follow(seconds(10));
  EXPECT_EQ(w.status("pair").state, "Running") << w.why("pair");
  w.follow(seconds(90));
  EXPECT_EQ(w.status("small").state, "Completed");
  EXPECT_EQ(w.machines().size(), 0u);
}

TEST(MachinesOnDemand, a_machine_stays_for_the_next_gang_that_fits) {
  MachineWorld w({.types = {"big=cpu=8,memory=8Gi,max=1"}, .scale = fast()});
  w.submit("first", 1, "6", "10s");
  w.submit("second", 1, "6", "10s");
  w.follow(seconds(60));
  EXPECT_EQ(w.status("first").state, "Completed");
  EXPECT_EQ(w.status("second").state, "Completed");
  EXPECT_EQ(w.seen.size(), 1u);
  EXPECT_EQ(w.machines().size(), 0u);
}

TEST(MachinesOnDemand, a_machine_without_its_request_is_named_and_stays) {
  MachineWorld w({.types = {"big=cpu=8,memory=8Gi,max=1"}, .scale = fast()});
  auto made = *run(w.env.loop, w.client->create(model::resource_type<model::Node>(), "",
                                                R"({"metadata":{"name":"lost","labels":)"
                                                R"({"scale.codeflare.dev/request":"gone",)"
                                                R"("codeflare.dev/fake-node":"true"}}})"));
  ASSERT_TRUE(made) << made.error().to_string();
  w.submit("any", 1, "1", "1s");
  w.follow(seconds(30));
  EXPECT_EQ(w.machines(), std::vector<std::string>{"lost"});
  EXPECT_TRUE(std::ranges::any_of(w.log.lines(), [](const std::string& line) {
    return line.contains("nobody can account for it") && line.contains("lost");
  }));
}

TEST(MachineTypeFlag, tells_what_is_wrong) {
  const auto error = [](const std::string& text) {
    const Result<model::MachineType> type = parse_machine_type(text);
    return type ? std::string("none") : type.error().message;
  };
  EXPECT_EQ(error("big=cpu=8,memory=16Gi,gpus=1,max=3,cost=2.5,example.com/fpga=1,fake"), "none");
  EXPECT_EQ(error("big"), "--machine-type big: expected NAME=cpu=8,memory=16Gi,max=3");
  EXPECT_EQ(error("big=cpu=8"), "--machine-type big=cpu=8: cpu and memory are required");
  EXPECT_EQ(error("big=cpu=8,memory=1Gi,max=x"),
            "--machine-type big=cpu=8,memory=1Gi,max=x: max=x: expected 0 to 100");
  EXPECT_EQ(error("big=cpu=8,memory=1Gi,color=1").substr(0, 55),
            "--machine-type big=cpu=8,memory=1Gi,color=1: color=1: e");
}

}  // namespace
}  // namespace codeflare::up
