#include "model/codec/node.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/client.h"
#include "model/codec/core.h"
#include "model/codec/event.h"
#include "model/codec/job.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"
#include "net/in_process.h"
#include "node/testing/sim_pod_network.h"
#include "node/testing/sim_pod_runtime.h"
#include "up/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace codeflare::up {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// `codeflare up` with a node whose processes are scripted, in virtual time. Can be stopped and
// started again over the same data and the same processes.
class NodeWorld {
 public:
  enum class Network : std::uint8_t { of_the_machine, of_its_own };
  // So many nodes beside the first share the machine.
  explicit NodeWorld(std::size_t others = 0, Network kind = Network::of_the_machine)
      : others_(others), kind_(kind) {
    start();
  }
  ~NodeWorld() {
    stop();
    for (const std::string& line : log.lines()) {
      EXPECT_FALSE(line.starts_with("ERROR") || line.contains("forbidden")) << line;
    }
  }
  NodeWorld(const NodeWorld&) = delete;
  NodeWorld& operator=(const NodeWorld&) = delete;

  UpOptions make_options() {
    UpOptions options;
    options.server.data_directory = "/data";
    options.server.durability = apiserver::Durability::memory;
    options.nodes.count = 0;
    node::NodeDescription about{.name = "n", .address = "127.0.0.1"};
    about.capacity.set("cpu", model::Quantity(8));
    about.capacity.set("memory", *model::Quantity::parse("16Gi"));
    about.capacity.set("pods", model::Quantity(110));
    about.capacity.set("nvidia.com/gpu", model::Quantity(2));
    about.machine.architecture = "amd64";
    about.version = "test";
    options.process_node.emplace(ProcessNode{.about = about,
                                             .images = {},
                                             .image_file = "/data/node/images.json",
                                             .resolv_conf = {},
                                             .pods = pods,
                                             .logs = logs});
    if (kind_ == Network::of_its_own) {
      options.process_node->network = &network;
    }
    for (std::size_t i = 1; i <= others_; ++i) {
      about.name = "n-" + std::to_string(i);
      options.process_node->others.push_back(about);
    }
    options.skip_grace = skip_grace_.token();
    return options;
  }
  // One that fails once it has found the pods of an earlier run.
  void fail_to_start() {
    TaskGroup cut(env.loop);
    pods.on_adopt = [&] { cut.request_stop(); };
    stop_.emplace();
    end_.reset();
    cut.spawn(go(make_options()));
    CHECK(run(env.loop, cut.join()));
    pods.on_adopt = {};
    EXPECT_TRUE(end_ && !*end_);
  }
  void start() {
    stop_.emplace();
    end_.reset();
    group_.spawn(go(make_options()));
    for (int i = 0; i < 100 && server_ == nullptr && !end_; ++i) {
      settle();
    }
    if (end_ && !*end_) {
      ADD_FAILURE() << end_->error().to_string();
    }
    CHECK(server_ != nullptr);
    service_ = std::make_unique<net::InProcessService>(
        server_->service(),
        net::Peer{.address = "test",
                  .certificate = net::Peer::Certificate{.common_name = "admin",
                                                        .organizations = {"system:masters"}}});
    client = std::make_unique<kube::Client>(env, *service_);
  }
  void ask_to_stop() {
    stop_->request_stop();
    settle(minutes(1));
  }
  void skip_grace() { skip_grace_.request_stop(); }
  void stop() {
    stop_->request_stop();
    CHECK(run(env.loop, group_.join()));
    EXPECT_TRUE(end_ && *end_);
    server_ = nullptr;
  }

  void settle(Duration time = seconds(1)) { CHECK(run(env.loop, sleep(time))); }
  void pod(std::string name, std::string command, std::string spec = "", std::string more = "") {
    const std::string body = R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec +
                             R"("containers":[{"name":"c","image":"x","command":)" + command +
                             more + "}]}}";
    auto made = *run(env.loop, client->create(model::resource_type<model::Pod>(), "default", body));
    ASSERT_TRUE(made) << made.error().to_string();
    settle();
  }
  kube::ObjectRef get(const std::string& name) {
    auto found = *run(env.loop, client->get(model::resource_type<model::Pod>(), {"default", name}));
    return found ? *found : nullptr;
  }
  model::Pod read(const std::string& name) {
    const kube::ObjectRef found = get(name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? model::Pod() : *found->as<model::Pod>();
  }
  void remove(const std::string& name, kube::DeleteOptions options = {}) {
    EXPECT_TRUE(*run(env.loop, client->remove(model::resource_type<model::Pod>(), {"default", name},
                                              std::move(options))));
    settle();
  }
  std::string logs_of(const std::string& name, kube::LogOptions options = {}) {
    auto body = *run(env.loop, client->logs({"default", name}, std::move(options)));
    if (!body) {
      return "error: " + body.error().message;
    }
    return **run(env.loop, net::read_all(std::move(*body), 1u << 20));
  }

  SimEnv sim;
  Env env = sim.env();
  MetricsRegistry metrics;
  LogCapture log;
  node::testing::SimPodRuntime pods{env};
  node::testing::SimPodNetwork network;
  node::testing::SimLogFiles logs{env.files};
  std::unique_ptr<kube::Client> client;

 private:
  static Task<void> sleep(Duration time) { static_cast<void>(co_await sleep_for(time)); }
  Task<void> go(UpOptions options) {
    end_ =
        co_await run_up(env, std::move(options), log.logger(env.clock, LogLevel::warn), metrics,
                        stop_->token(), [this](const UpReady& about) { server_ = &about.server; });
  }

  std::size_t others_ = 0;
  Network kind_;
  std::optional<StopSource> stop_;
  StopSource skip_grace_;
  std::optional<Result<void>> end_;
  apiserver::ApiServer* server_ = nullptr;
  std::unique_ptr<net::InProcessService> service_;
  TaskGroup group_{env.loop};
};

constexpr const char* kNever = R"("restartPolicy":"Never",)";

TEST(UpNode, registers_and_stays_alive) {
  NodeWorld w;
  w.settle(minutes(1));
  auto object = *run(w.env.loop, w.client->get(model::resource_type<model::Node>(), {"", "n"}));
  ASSERT_TRUE(object);
  const model::Node node = *(*object)->as<model::Node>();
  EXPECT_TRUE(model::is_condition_true(node.status.conditions, "Ready"));
  EXPECT_TRUE(model::is_condition_true(node.status.conditions, "PodIsolation"));
  EXPECT_TRUE(node.spec.taints.empty());
  EXPECT_EQ(node.status.allocatable.get("nvidia.com/gpu").to_string(), "2");
  auto lease = *run(w.env.loop,
                    w.client->get(model::resource_type<model::Lease>(), {"kube-node-lease", "n"}));
  ASSERT_TRUE(lease);
  const auto renewed = (*lease)->as<model::Lease>()->spec.renew_time;
  EXPECT_GT(renewed->time, w.env.clock.wall() - seconds(12));
}

TEST(UpNode, runs_a_pod_to_its_end) {
  NodeWorld w;
  w.pod("a", R"(["sleep","5"])", kNever);
  EXPECT_EQ(w.read("a").status.phase, "Running");
  EXPECT_EQ(w.read("a").spec.node_name, "n");
  EXPECT_EQ(w.read("a").status.pod_ip, "127.0.0.1");
  w.settle(seconds(5));
  const model::Pod ended = w.read("a");
  EXPECT_EQ(ended.status.phase, "Succeeded");
  EXPECT_EQ(ended.status.container_statuses[0].state.terminated->reason, "Completed");
  EXPECT_FALSE(w.pods.find(ended.metadata.uid)->alive);
}

TEST(UpNode, every_pod_has_its_token_and_the_authority_of_the_server) {
  NodeWorld w;
  w.pod("a", R"(["run"])");
  ASSERT_EQ(w.pods.pods().size(), 1u);
  const auto& volumes = w.pods.pods().begin()->second.sandbox.volumes;
  ASSERT_EQ(volumes.size(), 1u);
  std::set<std::string> names;
  for (const node::VolumeFile& file : volumes[0].files) {
    EXPECT_FALSE(file.content.empty()) << file.path;
    names.insert(file.path);
  }
  EXPECT_EQ(names, (std::set<std::string>{"ca.crt", "namespace", "token"}));
  EXPECT_EQ(w.pods.started_in("a").at(0).mounts.at(0).target,
            "/var/run/secrets/kubernetes.io/serviceaccount");
}

TEST(UpNode, runs_a_job_and_tells_its_end) {
  NodeWorld w;
  auto made = *run(
      w.env.loop,
      w.client->create(
          model::resource_type<model::Job>(), "default",
          R"({"metadata":{"name":"j"},"spec":{"parallelism":3,"completions":3,"template":{"spec":{)"
          R"("restartPolicy":"Never","containers":[{"name":"c","image":"x","command":)"
          R"(["sleep","2"]}]}}}})"));
  ASSERT_TRUE(made) << made.error().to_string();
  w.settle(seconds(10));
  auto job = *run(w.env.loop, w.client->get(model::resource_type<model::Job>(), {"default", "j"}));
  EXPECT_EQ((*job)->as<model::Job>()->status.succeeded, 3);
}

TEST(UpNode, restarts_with_back_off) {
  NodeWorld w;
  w.pod("a", R"(["sleep","1","1"])");
  w.settle(seconds(4));
  const model::ContainerStatus waiting = w.read("a").status.container_statuses[0];
  EXPECT_EQ(waiting.state.waiting->reason, "CrashLoopBackOff");
  EXPECT_EQ(waiting.restart_count, 1);
  w.settle(seconds(10));
  EXPECT_EQ(w.read("a").status.container_statuses[0].restart_count, 2);
}

TEST(UpNode, deletes_with_grace_and_leaves_nothing) {
  NodeWorld w;
  w.pod("a", R"(["stubborn"])", R"("terminationGracePeriodSeconds":20,)");
  w.remove("a");
  w.settle(seconds(10));
  EXPECT_NE(w.get("a"), nullptr);
  w.settle(seconds(15));
  EXPECT_EQ(w.get("a"), nullptr);
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(UpNode, a_forced_deletion_ends_processes_too) {
  NodeWorld w;
  w.pod("a", R"(["stubborn"])");
  w.remove("a", {.grace_period_seconds = 0});
  w.settle();
  EXPECT_EQ(w.get("a"), nullptr);
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(UpNode, says_what_a_container_waits_for) {
  NodeWorld w;
  w.pod("a", R"(["run"])", "", R"(,"envFrom":[{"configMapRef":{"name":"later"}}])");
  EXPECT_EQ(w.read("a").status.container_statuses[0].state.waiting->reason,
            "CreateContainerConfigError");
  ASSERT_TRUE(
      *run(w.env.loop, w.client->create(model::resource_type<model::ConfigMap>(), "default",
                                        R"({"metadata":{"name":"later"},"data":{"A":"1"}})")));
  w.settle(seconds(11));
  EXPECT_EQ(w.read("a").status.phase, "Running");
}

TEST(UpNode, numbers_its_gpus) {
  NodeWorld w;
  const std::string gpu = R"(,"resources":{"limits":{"nvidia.com/gpu":1}})";
  w.pod("a", R"(["run"])", "", gpu);
  w.pod("b", R"(["run"])", "", gpu);
  const auto visible = [&](const std::string& name) {
    const auto started = w.pods.started_in(name);
    for (const std::string& setting : started.at(0).environment) {
      if (setting.starts_with("CUDA_VISIBLE_DEVICES=")) {
        return setting.substr(21);
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(visible("a"), "0");
  EXPECT_EQ(visible("b"), "1");
}

TEST(UpNode, serves_logs) {
  NodeWorld w;
  w.pod("a", R"(["sleep","5"])", kNever);
  const std::string uid = w.read("a").metadata.uid;
  ASSERT_TRUE(w.env.files.make_directories("/pods/" + uid + "/logs/c"));
  ASSERT_TRUE(w.env.files.append("/pods/" + uid + "/logs/c/0.0.log",
                                 "2026-01-01T00:00:00Z stdout F one\n"
                                 "2026-01-01T00:00:01Z stderr F two\n"));
  EXPECT_EQ(w.logs_of("a"), "one\ntwo\n");
  EXPECT_EQ(w.logs_of("a", {.timestamps = true, .tail_lines = 1}), "2026-01-01T00:00:01Z two\n");
  EXPECT_EQ(w.logs_of("a", {.follow = true}), "one\ntwo\n");  // ends with the container
  EXPECT_EQ(w.read("a").status.phase, "Succeeded");
  EXPECT_EQ(w.logs_of("a", {.container = "x"}), "error: container x is not valid for pod a");
  EXPECT_TRUE(w.logs_of("a", {.previous = true}).contains("previous terminated container"));
}

TEST(UpNode, what_it_does_not_serve_is_not_implemented) {
  NodeWorld w;
  w.pod("a", R"(["run"])");
  auto answer = *run(
      w.env.loop, w.client->raw({.method = "POST",
                                 .target = "/api/v1/namespaces/default/pods/a/exec?command=id"}));
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().message.contains("pods/exec is not served here"));
}

TEST(UpNode, several_nodes_share_the_machine_and_each_has_its_own_capacity) {
  NodeWorld w(2);
  const std::string large = R"(,"resources":{"limits":{"cpu":"6","nvidia.com/gpu":2}})";
  std::set<std::string> nodes;
  for (const char* name : {"a", "b", "c"}) {
    w.pod(name, R"(["run"])", "", large);
    const model::Pod pod = w.read(name);
    EXPECT_EQ(pod.status.phase, "Running") << name;
    nodes.insert(pod.spec.node_name);
    // Each node counts its devices itself.
    const auto started = w.pods.started_in(name);
    ASSERT_EQ(started.size(), 1u);
    EXPECT_EQ(std::ranges::count(started[0].environment, "CUDA_VISIBLE_DEVICES=0,1"), 1);
    EXPECT_FALSE(w.logs_of(name).starts_with("error")) << w.logs_of(name);
  }
  EXPECT_EQ(nodes, (std::set<std::string>{"n", "n-1", "n-2"}));
  w.pod("d", R"(["run"])", "", large);
  EXPECT_EQ(w.read("d").spec.node_name, "");
  EXPECT_EQ(w.pods.running(), 3u);
  w.remove("b", {.grace_period_seconds = 0});
  w.settle(seconds(2));
  EXPECT_EQ(w.read("d").status.phase, "Running");
}

TEST(UpNode, nodes_that_share_the_machine_share_its_pod_network) {
  NodeWorld w(1, NodeWorld::Network::of_its_own);
  const std::string large = R"(,"resources":{"limits":{"cpu":"6"}})";
  w.pod("a", R"(["run"])", "", large);
  w.pod("b", R"(["run"])", "", large);
  EXPECT_NE(w.read("a").spec.node_name, w.read("b").spec.node_name);
  const std::string a = w.read("a").status.pod_ip;
  const std::string b = w.read("b").status.pod_ip;
  EXPECT_EQ((std::set<std::string>{a, b}), (std::set<std::string>{"10.244.0.2", "10.244.0.3"}));
  // A node removes only its own pods from the network.
  w.remove("a", {.grace_period_seconds = 0});
  w.settle(seconds(3));
  EXPECT_EQ(w.network.pods().size(), 1u);
  EXPECT_EQ(w.network.address_of(w.read("b").metadata.uid), b);
}

TEST(UpNode, notices_images_that_are_added_while_it_runs) {
  NodeWorld w;
  const std::string body =
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"tool:1"}]}})";
  ASSERT_TRUE(
      *run(w.env.loop, w.client->create(model::resource_type<model::Pod>(), "default", body)));
  w.settle(seconds(3));
  ASSERT_TRUE(w.read("a").status.container_statuses[0].state.waiting);
  EXPECT_EQ(w.read("a").status.container_statuses[0].state.waiting->reason, "ErrImagePull");
  ASSERT_TRUE(w.env.files.make_directories("/data/node"));
  ASSERT_TRUE(w.env.files.write("/data/node/images.json",
                                R"({"images":[{"image":"tool:*","entrypoint":["run"]}]})"));
  w.settle(seconds(3));
  EXPECT_EQ(w.read("a").status.phase, "Running");
  // A wrong file changes nothing.
  ASSERT_TRUE(w.env.files.write("/data/node/images.json", "{"));
  w.settle(seconds(3));
  EXPECT_TRUE(w.log.has("image mappings are unchanged"));
}

// Nobody has to wait between the two.
TEST(UpNode, a_pod_has_the_images_that_were_added_before_it) {
  NodeWorld w;
  ASSERT_TRUE(w.env.files.make_directories("/data/node"));
  ASSERT_TRUE(w.env.files.write(
      "/data/node/images.json",
      R"({"images":[{"image":"x","directories":["/opt/tool"],"env":{"PATH":"/opt/tool/bin"}}]})"));
  w.pod("a", R"(["run"])");
  const auto started = w.pods.started_in("a");
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(std::ranges::count(started[0].environment, "PATH=/opt/tool/bin"), 1);
}

TEST(UpNode, a_lost_keeper_is_replaced_or_fails_the_pod) {
  NodeWorld w;
  w.pod("always", R"(["run"])");
  w.pod("never", R"(["run"])", kNever);
  w.pods.lose_all();
  w.settle(seconds(2));
  EXPECT_EQ(w.read("never").status.phase, "Failed");
  EXPECT_EQ(w.read("never").status.reason, "NodeShutdown");
  EXPECT_EQ(w.read("always").status.phase, "Running");
  EXPECT_EQ(w.read("always").status.container_statuses[0].restart_count, 1);
}

TEST(UpNode, a_second_word_ends_those_who_have_much_grace) {
  NodeWorld w;
  w.pod("a", R"(["stubborn"])", R"("terminationGracePeriodSeconds":86400,)");
  w.ask_to_stop();
  EXPECT_EQ(w.pods.running(), 1u);
  w.skip_grace();
  w.settle(seconds(2));
  EXPECT_EQ(w.pods.running(), 0u);
}

TEST(UpNode, a_start_that_fails_ends_no_pod) {
  NodeWorld w;
  w.stop();
  // As after kill -9.
  node::NewSandbox sandbox{.spec = {.ns = "default", .name = "x", .uid = "x"}};
  ASSERT_TRUE(*run(w.env.loop, w.pods.make(std::move(sandbox))));
  ASSERT_TRUE(*run(w.env.loop, w.pods.start("x", {.name = "c", .command = {"run"}})));
  w.fail_to_start();
  EXPECT_EQ(w.pods.running(), 1u);
  w.start();
  EXPECT_EQ(w.pods.running(), 0u);  // its object is gone
}

TEST(UpNode, stopping_ends_every_process) {
  NodeWorld w;
  w.pod("a", R"(["run"])");
  w.pod("b", R"(["stubborn"])", R"("terminationGracePeriodSeconds":3,)");
  EXPECT_EQ(w.pods.running(), 2u);
  w.stop();
  EXPECT_EQ(w.pods.running(), 0u);
  w.start();
}

}  // namespace
}  // namespace codeflare::up
