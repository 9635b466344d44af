#include "node/agent/pod_agent.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/sim_env.h"
#include "base/log_capture.h"
#include "kube/testing/scripted_service.h"
#include "kube/typed.h"
#include "model/codec/core.h"
#include "model/codec/node.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"
#include "node/agent/node_registration.h"
#include "node/agent/pod_ending.h"
#include "node/testing/sim_pod_network.h"
#include "node/testing/sim_pod_runtime.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const model::ResourceType kPods = model::resource_type<model::Pod>();

// An agent between a scripted API server and scripted processes, in virtual time. Either of the two
// can go on without it.
struct World {
  SimEnv sim;
  Env env = sim.env();
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  testing::SimPodRuntime pods{env};
  LogCapture log;
  std::unique_ptr<runtime::Manager> manager;
  PodAgent* agent = nullptr;
  std::unique_ptr<TaskGroup> group;
  PodNetwork* network;
  bool allow_host_network;

  explicit World(PodNetwork* network_in = nullptr, bool allow_host_network_in = false)
      : network(network_in), allow_host_network(allow_host_network_in) {
    start();
  }
  ~World() { stop(); }

  void start() {
    manager = std::make_unique<runtime::Manager>(env, client, runtime::ManagerOptions{.name = "n"});
    agent = &add_pod_agent(*manager, pods,
                           {.node = "n",
                            .address = "127.0.0.1",
                            .network = network,
                            .gpus = 2,
                            .resolv_conf = "m",
                            .allow_host_network = allow_host_network,
                            .logger = log.logger(env.clock)});
    EXPECT_TRUE(*run(env.loop, agent->adopt()));
    group = std::make_unique<TaskGroup>(env.loop);
    group->spawn(go());
    settle();
  }
  void stop() {
    EXPECT_TRUE(run(env.loop, group->close()));
    manager.reset();
  }
  Task<void> go() { static_cast<void>(co_await manager->run()); }
  Task<void> stop_pods(std::optional<Result<void>>& ended) { ended = co_await agent->stop_pods(); }
  void settle(Duration time = seconds(1)) { EXPECT_TRUE(*run(env.loop, sleep_for(time))); }

  void pod(const std::string& name, std::string command, std::string spec = "",
           std::string meta = "", std::string container = "") {
    service.put(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                           R"(","namespace":"default",)" + meta + R"("uid":"uid-)" + name +
                           R"("},"spec":{"nodeName":"n","enableServiceLinks":false,)" + spec +
                           R"("containers":[{"name":"c","image":"x",)" + container +
                           R"("command":)" + command + "}]}}");
    settle();
  }
  kube::ObjectRef get(const std::string& name) { return service.find(kPods, {"default", name}); }
  model::PodStatus status(const std::string& name) {
    const kube::ObjectRef found = get(name);
    EXPECT_NE(found, nullptr);
    return found == nullptr ? model::PodStatus() : found->as<model::Pod>()->status;
  }
  // Of the pod: "TYPE REASON MESSAGE".
  std::vector<std::string> events(const std::string& name) {
    std::vector<std::string> found;
    for (const auto& [key, event] : service.objects(model::resource_type<model::Event>())) {
      if (event->string_at({"involvedObject", "name"}) == name) {
        found.push_back(event->string_at({"type"}) + " " + event->string_at({"reason"}) + " " +
                        event->string_at({"message"}));
      }
    }
    return found;
  }
};

constexpr const char* kNever = R"("restartPolicy":"Never",)";
constexpr const char* kBothGpus = R"("resources":{"limits":{"nvidia.com/gpu":"2"}},)";

TEST(PodAgent, runs_a_pod_to_its_end_and_closes_its_keeper) {
  World w;
  w.pod("a", R"(["sleep","5"])", kNever);
  EXPECT_EQ(w.status("a").phase, "Running");
  EXPECT_TRUE(model::is_condition_true(w.status("a").conditions, "Ready"));
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").phase, "Succeeded");
  EXPECT_FALSE(w.pods.find(std::string(w.get("a")->uid()))->alive);
}

TEST(PodAgent, a_pod_waits_for_its_image_until_something_stands_for_it) {
  World w;
  w.service.put(kPods,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default",)"
                R"("uid":"uid-a"},"spec":{"nodeName":"n","enableServiceLinks":false,)"
                R"("containers":[{"name":"c","image":"tool:1"}]}})");
  w.settle();
  ASSERT_EQ(w.status("a").container_statuses.size(), 1u);
  ASSERT_TRUE(w.status("a").container_statuses[0].state.waiting);
  EXPECT_EQ(w.status("a").container_statuses[0].state.waiting->reason, "ErrImagePull");
  ImageTable images({{.image = "tool:*", .directories = {"/opt/tool"}, .entrypoint = {"run"}}});
  ASSERT_TRUE(run(w.env.loop, w.agent->use_images(std::move(images))));
  w.settle();
  EXPECT_EQ(w.status("a").phase, "Running");
  // The sandbox was made anew, with what the image needs.
  EXPECT_EQ(w.pods.pods().at(std::string(w.get("a")->uid())).sandbox.spec.directories,
            (std::vector<std::string>{"/opt/tool"}));
}

TEST(PodAgent, tells_of_a_start_when_it_has_come_about) {
  using Texts = std::vector<std::string>;
  World w;
  w.pod("a", R"(["run"])");
  w.pod("b", R"(["missing"])", kNever);
  EXPECT_EQ(w.events("a"), (Texts{"Normal Started Started container c"}));
  EXPECT_EQ(w.events("b"),
            (Texts{"Warning Failed Error: exec: \"missing\": executable file not found in $PATH"}));
  EXPECT_EQ(w.status("b").container_statuses.at(0).state.terminated->reason, "StartError");
}

TEST(PodAgent, is_quiet_when_nothing_happens) {
  World w;
  w.pod("a", R"(["run"])");
  w.service.forget_requests();
  w.settle(minutes(5));
  for (const std::string& request : w.service.requests()) {
    EXPECT_TRUE(request.starts_with("GET")) << request;
  }
}

TEST(PodAgent, restarts_after_a_crash_and_waits_after_the_second) {
  World w;
  w.pod("a", R"(["sleep","1","1"])");
  w.settle(seconds(4));
  EXPECT_EQ(w.status("a").container_statuses.at(0).state.waiting->reason, "CrashLoopBackOff");
  w.settle(seconds(10));
  EXPECT_EQ(w.status("a").container_statuses.at(0).restart_count, 2);
}

TEST(PodAgent, lets_a_deleted_pod_go_that_never_ran) {
  World w;
  w.pod("a", R"(["run"])", "",
        R"("deletionGracePeriodSeconds":20,"deletionTimestamp":"2023-11-14T22:13:20Z",)");
  EXPECT_EQ(w.get("a"), nullptr);
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(PodAgent, ends_a_deleted_pod_and_tells_how_it_ended) {
  World w;
  w.pod("a", R"(["stubborn"])", "", R"("finalizers":["x/y"],)");
  EXPECT_TRUE(*run(w.env.loop, w.client.remove(kPods, {"default", "a"})));
  w.settle();
  EXPECT_EQ(w.pods.running(), 1u);
  w.settle(seconds(5));
  EXPECT_EQ(w.pods.running(), 0u);
  EXPECT_EQ(w.status("a").phase, "Failed");
  const auto ended = w.status("a").container_statuses.at(0).state.terminated;
  EXPECT_EQ(ended->exit_code, 137);
  EXPECT_EQ(ended->signal, 0);
}

TEST(PodAgent, ends_a_deleted_pod_whose_keeper_does_not_listen) {
  World w;
  w.pod("a", R"(["run"])", R"("terminationGracePeriodSeconds":5,)", R"("finalizers":["x/y"],)");
  w.pods.deaf = true;
  EXPECT_TRUE(*run(w.env.loop, w.client.remove(kPods, {"default", "a"})));
  w.settle(seconds(3));
  EXPECT_EQ(w.pods.running(), 1u);
  w.settle(seconds(8));
  EXPECT_EQ(w.pods.running(), 0u);
  EXPECT_EQ(w.status("a").phase, "Failed");
}

TEST(PodAgent, ends_the_processes_of_a_pod_that_is_gone) {
  World w;
  w.pod("a", R"(["stubborn"])");
  w.service.erase(kPods, {"default", "a"});
  w.settle();
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(PodAgent, leaves_pods_of_other_nodes_alone) {
  World w;
  w.service.put(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":)"
                       R"("default","uid":"u"},"spec":{"nodeName":"other","containers":[]}})");
  w.settle();
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(PodAgent, waits_for_what_a_container_refers_to) {
  World w;
  w.pod("a", R"(["run"])", "", "", R"("envFrom":[{"configMapRef":{"name":"later"}}],)");
  EXPECT_EQ(w.status("a").container_statuses.at(0).state.waiting->reason,
            "CreateContainerConfigError");
  w.service.put(model::resource_type<model::ConfigMap>(),
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"later",)"
                R"("namespace":"default"},"data":{"A":"1"}})");
  w.settle(seconds(11));
  EXPECT_EQ(w.status("a").phase, "Running");
}

TEST(PodAgent, adopts_what_runs_and_starts_nothing_twice) {
  World w;
  w.pod("a", R"(["run"])");
  w.pod("gone", R"(["run"])");
  w.stop();
  w.service.erase(kPods, {"default", "gone"});
  EXPECT_EQ(w.pods.running(), 2u);
  w.start();
  EXPECT_EQ(w.pods.started_in("a").size(), 1u);
  EXPECT_EQ(w.status("a").container_statuses.at(0).restart_count, 0);
  EXPECT_EQ(w.pods.running(), 1u);
}

TEST(PodAgent, replaces_lost_keepers_or_fails_their_pods) {
  World w;
  w.pod("always", R"(["run"])");
  w.pod("never", R"(["run"])", kNever);
  w.pods.lose_all();
  w.settle(seconds(2));
  EXPECT_EQ(w.status("never").reason, "NodeShutdown");
  EXPECT_EQ(w.status("always").container_statuses.at(0).restart_count, 1);
}

TEST(PodAgent, devices_are_free_when_a_pod_is_said_to_have_ended) {
  World w;
  w.pods.tidying = minutes(1);
  w.pod("a", R"(["sleep","5"])", kNever, "", kBothGpus);
  w.settle(seconds(5));
  EXPECT_EQ(w.status("a").phase, "Succeeded");
  w.pod("b", R"(["run"])", kNever, "", kBothGpus);
  EXPECT_EQ(w.status("b").phase, "Running") << w.status("b").message;
}

TEST(PodAgent, devices_of_a_pod_that_is_gone_are_waited_for) {
  World w;
  w.pods.tidying = seconds(10);
  w.pod("a", R"(["stubborn"])", kNever, "", kBothGpus);
  w.service.erase(kPods, {"default", "a"});
  w.pod("b", R"(["run"])", kNever, "", kBothGpus);
  EXPECT_EQ(w.status("b").phase, "Pending") << w.status("b").message;
  EXPECT_TRUE(w.pods.started_in("b").empty());
  w.settle(seconds(12));
  EXPECT_EQ(w.status("b").phase, "Running") << w.status("b").message;
}

TEST(PodAgent, a_pod_for_which_there_are_no_devices_is_rejected) {
  World w;
  w.pod("a", R"(["run"])", kNever, "", kBothGpus);
  w.pod("b", R"(["run"])", kNever, "", kBothGpus);
  EXPECT_EQ(w.status("b").phase, "Failed");
  EXPECT_EQ(w.status("b").reason, "UnexpectedAdmissionError");
}

TEST(PodAgent, hears_nothing_any_more_once_it_is_gone) {
  World w;
  w.pod("a", R"(["run"])");
  w.stop();
  w.pods.lose_all();  // tells whoever listens
  w.start();
  EXPECT_EQ(w.status("a").container_statuses.at(0).restart_count, 1);
}

TEST(PodAgent, stops_everything_when_asked) {
  World w;
  w.pod("a", R"(["run"])");
  w.pod("b", R"(["stubborn"])", R"("terminationGracePeriodSeconds":3,)");
  EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
  EXPECT_EQ(w.pods.running(), 0u);
  w.settle(minutes(1));
  EXPECT_EQ(w.pods.running(), 0u);
}

TEST(PodAgent, what_it_ended_itself_starts_again_at_once) {
  World w;
  w.pod("a", R"(["run"])");
  for (int i = 1; i <= 3; ++i) {
    EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
    w.stop();
    w.start();
    EXPECT_EQ(w.status("a").container_statuses.at(0).restart_count, i);
    EXPECT_TRUE(w.status("a").container_statuses.at(0).state.running);
  }
}

TEST(PodAgent, what_ends_well_because_the_node_stops_has_not_succeeded) {
  World w;
  w.pod("never", R"(["polite"])", kNever);
  w.pod("done", R"(["exit","0"])", kNever);
  w.pod("on-failure", R"(["polite"])", R"("restartPolicy":"OnFailure",)");
  EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
  w.stop();
  w.start();
  EXPECT_EQ(w.status("never").phase, "Failed");
  EXPECT_EQ(w.status("never").reason, "NodeShutdown");
  EXPECT_EQ(w.status("done").phase, "Succeeded");
  EXPECT_EQ(w.status("on-failure").container_statuses.at(0).restart_count, 1);
  EXPECT_TRUE(w.status("on-failure").container_statuses.at(0).state.running);
}

constexpr const char* kSidecars =
    R"("initContainers":[{"name":"s","image":"x","restartPolicy":"Always","command":["run"]},)"
    R"({"name":"t","image":"x","restartPolicy":"Always","command":["run"]}],)";

TEST(PodAgent, sidecars_end_after_the_others_and_the_last_first_when_the_node_stops) {
  World w;
  w.pod("a", R"(["run"])", kSidecars);
  EXPECT_EQ(w.pods.running(), 3u);
  EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
  const KeeperState& state = w.pods.find(std::string(w.get("a")->uid()))->state;
  const auto ends_before = [&](const char* first, const char* second) {
    return state.last(first)->finished <= state.last(second)->asked_to_end;
  };
  EXPECT_TRUE(ends_before("c", "t"));
  EXPECT_TRUE(ends_before("t", "s"));
  EXPECT_EQ(state.last("s")->exit_code, 143);
}

TEST(PodAgent, sidecars_are_asked_also_when_the_others_have_used_up_the_grace) {
  World w;
  w.pod("a", R"(["stubborn"])", std::string(R"("terminationGracePeriodSeconds":10,)") + kSidecars);
  const WallTime began = w.env.clock.wall();
  EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
  const KeeperState& state = w.pods.find(std::string(w.get("a")->uid()))->state;
  EXPECT_EQ(state.last("s")->exit_code, 143);
  EXPECT_EQ(state.last("t")->exit_code, 143);
  EXPECT_EQ(state.last("c")->exit_code, 137);
  EXPECT_LT(w.env.clock.wall() - began, seconds(13));
}

TEST(PodAgent, ends_what_another_agent_left_without_an_api_server) {
  World w;
  w.pod("a", R"(["polite"])", std::string(R"("terminationGracePeriodSeconds":10,)") + kSidecars);
  w.pod("b", R"(["stubborn"])", R"("terminationGracePeriodSeconds":7,)");
  w.pod("over", R"(["exit","0"])", kNever);
  w.stop();
  const WallTime began = w.env.clock.wall();
  const Result<std::size_t> ended = *run(w.env.loop, end_left_pods(w.env, w.pods));
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(*ended, 2u);
  EXPECT_EQ(w.pods.running(), 0u);
  EXPECT_GE(w.env.clock.wall() - began, seconds(7));
  EXPECT_LT(w.env.clock.wall() - began, seconds(9));
  w.start();
  w.settle(seconds(2));
  EXPECT_EQ(w.status("a").container_statuses.at(0).restart_count, 1);
  EXPECT_EQ(w.status("b").container_statuses.at(0).restart_count, 1);
  EXPECT_EQ(w.status("over").phase, "Succeeded");
}

TEST(PodAgent, names_the_pods_of_another_agent_that_did_not_end) {
  World w;
  w.pod("a", R"(["run"])");
  w.stop();
  w.pods.why_not_closed = "the kernel does not let go of it";
  const Result<std::size_t> ended = *run(w.env.loop, end_left_pods(w.env, w.pods));
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message,
            "pods did not end: default/a (the kernel does not let go of it)");
  w.pods.why_not_closed.clear();
  w.start();
}

TEST(PodAgent, keepers_that_are_lost_again_and_again_are_not_replaced_at_once) {
  World w;
  w.pod("a", R"(["run"])");
  const auto now = [&] { return w.status("a").container_statuses.at(0); };
  w.pods.lose_all();
  w.settle(seconds(2));
  EXPECT_EQ(now().restart_count, 1);  // the first time
  w.pods.lose_all();
  w.settle(seconds(5));
  EXPECT_EQ(now().restart_count, 1);
  ASSERT_TRUE(now().state.waiting);
  EXPECT_EQ(now().state.waiting->reason, "CrashLoopBackOff");
  w.settle(seconds(7));
  EXPECT_EQ(now().restart_count, 2);
  // One that had run for a while is not to blame.
  w.settle(seconds(10));
  w.pods.lose_all();
  w.settle(seconds(2));
  EXPECT_EQ(now().restart_count, 3);
}

TEST(PodAgent, says_whom_it_waits_for_and_ends_them_at_once_when_told_again) {
  World w;
  w.pod("slow", R"(["stubborn"])", R"("terminationGracePeriodSeconds":86400,)");
  TaskGroup group(w.env.loop);
  std::optional<Result<void>> ended;
  group.spawn(w.stop_pods(ended));
  w.settle(minutes(1));
  EXPECT_EQ(w.pods.running(), 1u);
  EXPECT_TRUE(w.log.has("waiting for pods to end"));
  EXPECT_TRUE(w.log.has("default/slow"));
  w.agent->skip_grace();
  w.settle();
  EXPECT_EQ(w.pods.running(), 0u);
  ASSERT_TRUE(ended);
  EXPECT_TRUE(*ended);
  EXPECT_TRUE(run(w.env.loop, group.join()));
}

TEST(PodAgent, says_which_pods_did_not_end) {
  World w;
  w.pod("a", R"(["run"])");
  w.pods.why_not_closed = "the kernel does not let go of it";
  const Result<void> stopped = *run(w.env.loop, w.agent->stop_pods());
  ASSERT_FALSE(stopped);
  EXPECT_TRUE(stopped.error().message.contains("default/a")) << stopped.error().message;
}

const NewSandbox& sandbox_of(World& w, const std::string& pod) {
  return w.pods.pods().at(std::string(w.get(pod)->uid())).sandbox;
}

std::string etc_of(World& w, const std::string& pod, std::string_view name) {
  for (const EtcFile& file : sandbox_of(w, pod).etc) {
    if (file.name == name) {
      return file.content;
    }
  }
  return {};
}

TEST(PodAgent, gives_pods_addresses_of_their_own_until_they_have_ended) {
  testing::SimPodNetwork network;
  World w(&network);
  w.pod("a", R"(["sleep","5"])", kNever);
  w.pod("b", R"(["run"])");
  EXPECT_EQ(w.status("a").pod_ip, "10.244.0.2");
  EXPECT_EQ(w.status("b").pod_ip, "10.244.0.3");
  EXPECT_EQ(w.status("b").host_ip, "127.0.0.1");
  EXPECT_EQ(sandbox_of(w, "b").spec.network, "holder.sock");
  EXPECT_TRUE(etc_of(w, "b", "hosts").contains("10.244.0.3\tb\n"));
  EXPECT_TRUE(etc_of(w, "b", "resolv.conf").contains("search default.svc.cluster.local"));
  w.settle(seconds(6));
  EXPECT_EQ(w.status("a").phase, "Succeeded");
  EXPECT_EQ(w.status("a").pod_ip, "10.244.0.2");
  EXPECT_EQ(network.pods().size(), 1u);
  w.service.erase(kPods, {"default", "b"});
  w.settle();
  EXPECT_TRUE(network.pods().empty());
}

TEST(PodAgent, refuses_the_machines_network_unless_it_is_allowed) {
  testing::SimPodNetwork network;
  World w(&network);
  w.pod("a", R"(["run"])", R"("hostNetwork":true,)");
  EXPECT_EQ(w.status("a").phase, "Failed");
  EXPECT_EQ(w.status("a").reason, "HostNetworkForbidden");
  EXPECT_TRUE(w.status("a").message.contains("--allow-host-network"));
  EXPECT_TRUE(w.pods.pods().empty());
}

TEST(PodAgent, does_not_ask_for_leave_where_all_pods_have_the_machines_network) {
  World w;
  w.pod("a", R"(["run"])", R"("hostNetwork":true,)");
  EXPECT_EQ(w.status("a").phase, "Running");
}

TEST(PodAgent, leaves_the_machines_network_to_those_who_ask_for_it) {
  testing::SimPodNetwork network;
  World w(&network, true);
  w.pod("a", R"(["run"])", R"("hostNetwork":true,)");
  EXPECT_EQ(w.status("a").pod_ip, "127.0.0.1");
  EXPECT_TRUE(sandbox_of(w, "a").spec.network.empty());
  EXPECT_EQ(etc_of(w, "a", "resolv.conf"), "m");
  EXPECT_TRUE(network.pods().empty());
}

TEST(PodAgent, finds_the_addresses_of_an_earlier_run_and_frees_those_of_lost_pods) {
  testing::SimPodNetwork network;
  World w(&network);
  w.pod("a", R"(["run"])");
  w.stop();
  EXPECT_TRUE(*run(w.env.loop, network.attach({.uid = "lost"})));
  w.start();
  EXPECT_EQ(network.pods().size(), 1u);
  EXPECT_EQ(w.status("a").pod_ip, "10.244.0.2");
}

TEST(PodAgent, starts_also_when_a_network_of_an_earlier_run_cannot_be_let_go_of) {
  testing::SimPodNetwork network;
  World w(&network);
  w.pod("a", R"(["run"])");
  w.stop();
  network.fail_with("it is busy");
  w.start();  // expects that it adopts
  EXPECT_EQ(w.status("a").phase, "Running");
}

TEST(PodAgent, says_why_a_pod_has_no_network) {
  testing::SimPodNetwork network;
  network.fail_with("no address is left");
  World w(&network);
  w.pod("a", R"(["run"])");
  EXPECT_EQ(w.status("a").phase, "Pending");
  network.fail_with("");
  w.settle(seconds(11));
  EXPECT_EQ(w.status("a").phase, "Running");
}

TEST(NodeRegistration, says_a_block_of_addresses_only_where_it_has_a_claim_to_it) {
  NodeDescription about{
      .name = "n", .address = "192.0.2.1", .pod_block = "10.244.0.0/24", .version = "test"};
  EXPECT_EQ(node_object(about, {}).spec.pod_cidr, "10.244.0.0/24");
  about.has_claim = false;
  const model::Node node = node_object(about, {});
  EXPECT_EQ(node.spec.pod_cidr, "");
  EXPECT_TRUE(node.spec.pod_cidrs.empty());
  EXPECT_TRUE(model::is_condition_true(node.status.conditions, "PodNetwork"));
}

TEST(NodeRegistration, makes_a_node_and_keeps_it_alive) {
  World w;
  NodeDescription about{.name = "n", .address = "127.0.0.1", .version = "test"};
  about.capacity.set("cpu", model::Quantity(4));
  EXPECT_TRUE(*run(w.env.loop, register_node(w.env, w.client, about)));
  TaskGroup group(w.env.loop);
  group.spawn(keep_alive(w.env, w.client, about, {}));
  w.settle(minutes(6));
  EXPECT_TRUE(run(w.env.loop, group.close()));
  const auto node =
      w.service.find(model::resource_type<model::Node>(), {"", "n"})->as<model::Node>();
  EXPECT_TRUE(model::is_condition_true(node->status.conditions, "Ready"));
  EXPECT_TRUE(model::is_condition_true(node->status.conditions, "PodIsolation"));
  const auto lease = w.service.find(model::resource_type<model::Lease>(), {"kube-node-lease", "n"});
  ASSERT_NE(lease, nullptr);
  EXPECT_GT(lease->as<model::Lease>()->spec.renew_time->time, w.env.clock.wall() - seconds(12));
  EXPECT_TRUE(*run(w.env.loop, report_not_ready(w.env, w.client, "n")));
  EXPECT_TRUE(*run(w.env.loop, register_node(w.env, w.client, about)));
}

TEST(NodeRegistration, a_later_start_keeps_what_others_gave_the_node_and_not_what_we_did) {
  World w;
  kube::Api<model::Node> nodes(w.client);
  NodeDescription about{.name = "n", .address = "127.0.0.1", .version = "test"};
  about.capacity.set("cpu", model::Quantity(4));
  about.extras.labels.emplace("zone", "a");
  about.extras.resources.set("example.com/fpga", model::Quantity(2));
  ASSERT_TRUE(*run(w.env.loop, register_node(w.env, w.client, about)));
  model::Node node = **run(w.env.loop, nodes.get("n"));
  EXPECT_EQ(model::find_or_empty(node.metadata.labels, "zone"), "a");
  EXPECT_EQ(node.status.capacity.get("example.com/fpga"), model::Quantity(2));
  EXPECT_EQ(node.status.allocatable.get("example.com/fpga"), model::Quantity(2));
  node.status.capacity.set("example.com/dongle", model::Quantity(1));
  node.status.allocatable.set("example.com/dongle", model::Quantity(1));
  ASSERT_TRUE(*run(w.env.loop, nodes.update_status(node)));

  about.extras = {};
  ASSERT_TRUE(*run(w.env.loop, register_node(w.env, w.client, about)));
  node = **run(w.env.loop, nodes.get("n"));
  EXPECT_FALSE(node.metadata.labels.contains("zone"));
  for (const model::ResourceList* list : {&node.status.capacity, &node.status.allocatable}) {
    EXPECT_EQ(list->find("example.com/fpga"), nullptr);
    EXPECT_EQ(list->get("example.com/dongle"), model::Quantity(1));
    EXPECT_EQ(list->get("cpu"), model::Quantity(4));
  }
}

TEST(NodeRegistration, offers_extended_resources_that_others_wrote_into_the_capacity) {
  World w;
  kube::Api<model::Node> nodes(w.client);
  NodeDescription about{.name = "n", .address = "127.0.0.1", .version = "test"};
  about.capacity.set("cpu", model::Quantity(4));
  ASSERT_TRUE(*run(w.env.loop, register_node(w.env, w.client, about)));
  TaskGroup group(w.env.loop);
  group.spawn(keep_alive(w.env, w.client, about, {}));
  model::Node node = **run(w.env.loop, nodes.get("n"));
  node.status.capacity.set("example.com/dongle", model::Quantity(3));
  ASSERT_TRUE(*run(w.env.loop, nodes.update_status(node)));
  w.settle(seconds(11));
  node = **run(w.env.loop, nodes.get("n"));
  EXPECT_EQ(node.status.allocatable.get("example.com/dongle"), model::Quantity(3));
  node.status.capacity.erase("example.com/dongle");
  ASSERT_TRUE(*run(w.env.loop, nodes.update_status(node)));
  w.settle(seconds(11));
  node = **run(w.env.loop, nodes.get("n"));
  EXPECT_EQ(node.status.allocatable.find("example.com/dongle"), nullptr);
  EXPECT_EQ(node.status.allocatable.get("cpu"), model::Quantity(4));
  EXPECT_TRUE(run(w.env.loop, group.close()));
}

std::string message_of(const NodeDescription& about, std::string_view type) {
  const model::Node node = node_object(about, WallTime());
  const auto found = std::ranges::find(node.status.conditions, type, &model::Condition::type);
  return found == node.status.conditions.end() ? "" : found->message;
}

TEST(NodeRegistration, says_how_a_system_would_allow_what_it_forbids) {
  NodeDescription about{.name = "n", .address = "127.0.0.1", .version = "test"};
  about.no_network = "no bridges";
  about.network_forbidden = true;
  EXPECT_EQ(message_of(about, "PodNetwork"),
            "pods share the machine's network: no bridges; to change that: sysctl "
            "user.max_net_namespaces above 0, and a kernel with veth and bridge");
  EXPECT_FALSE(message_of(about, "PodIsolation").contains("sysctl"));
  about.not_isolated = "no namespaces";
  for (const char* type : {"PodIsolation", "PodNetwork"}) {
    EXPECT_TRUE(message_of(about, type).contains("sysctl user.max_user_namespaces above 0"))
        << type;
  }
  // Not the kernel's doing.
  about.network_forbidden = false;
  EXPECT_EQ(message_of(about, "PodNetwork"), "pods share the machine's network: no bridges");
}

}  // namespace
}  // namespace codeflare::node
