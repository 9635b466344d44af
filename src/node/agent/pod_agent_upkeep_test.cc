#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "base/env/jumping_clock.h"
#include "base/env/sim_env.h"
#include "kube/testing/scripted_service.h"
#include "model/codec/core.h"
#include "model/codec/event.h"
#include "model/codec/pod.h"
#include "model/condition.h"
#include "model/resources.h"
#include "node/agent/pod_agent.h"
#include "node/testing/scripted_probes.h"
#include "node/testing/sim_pod_runtime.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace codeflare::node {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const model::ResourceType kPods = model::resource_type<model::Pod>();
const model::ResourceType kConfigMaps = model::resource_type<model::ConfigMap>();

// An agent that probes, between a scripted API server and scripted processes, in virtual time.
struct World {
  SimEnv sim;
  JumpingClock clock{sim.env().clock};
  Env env = with_clock(sim.env(), clock);
  kube::testing::ScriptedService service{env};
  kube::Client client{env, service};
  testing::SimPodRuntime pods{env};
  testing::ScriptedProbes probes;
  ProbeCheck check{probes, &probes};
  std::unique_ptr<runtime::Manager> manager;
  PodAgent* agent = nullptr;
  std::unique_ptr<TaskGroup> group;

  World() { start(); }
  ~World() { stop(); }

  void start() {
    manager = std::make_unique<runtime::Manager>(env, client, runtime::ManagerOptions{.name = "n"});
    AgentOptions options{.node = "n", .address = "127.0.0.1"};
    options.probes = &check;
    options.allocatable.set("pods", model::Quantity(2));
    agent = &add_pod_agent(*manager, pods, std::move(options));
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
  Task<void> stop_pods() { EXPECT_TRUE(co_await agent->stop_pods()); }
  void settle(Duration time = seconds(1)) { EXPECT_TRUE(*run(env.loop, sleep_for(time))); }

  // With these members of its container, and of its spec.
  void pod(const std::string& container, const std::string& spec = "",
           const std::string& name = "a") {
    service.put(kPods, R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                           R"(","namespace":"default","uid":"uid-)" + name +
                           R"("},"spec":{"nodeName":"n",)" + spec +
                           R"("containers":[{"name":"c","image":"x",)" + container +
                           R"("command":["run"]}]}})");
    settle();
  }
  void config_map(const std::string& value) {
    service.put(kConfigMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm",)"
                             R"("namespace":"default"},"data":{"k":")" +
                                 value + R"("}})");
  }
  model::PodStatus status(const std::string& name = "a") {
    const kube::ObjectRef found = service.find(kPods, {"default", name});
    EXPECT_NE(found, nullptr);
    return found == nullptr ? model::PodStatus() : found->as<model::Pod>()->status;
  }
  std::string uid() {
    const kube::ObjectRef found = service.find(kPods, {"default", "a"});
    return found == nullptr ? "" : std::string(found->uid());
  }
  bool ready() { return model::is_condition_true(status().conditions, "Ready"); }
  const model::ContainerStatus main() { return status().container_statuses.at(0); }
  bool has_event(std::string_view reason) {
    for (const auto& entry : service.objects(model::resource_type<model::Event>())) {
      if (entry.second->string_at({"reason"}) == reason) {
        return true;
      }
    }
    return false;
  }
  std::string file(const std::string& volume) {
    for (const VolumePlan& plan : pods.pods().at(uid()).sandbox.volumes) {
      if (plan.name == volume && !plan.files.empty()) {
        return plan.files.front().content;
      }
    }
    return "";
  }
};

constexpr const char* kReadiness =
    R"("readinessProbe":{"httpGet":{"path":"/ready","port":80},"periodSeconds":2},)";

TEST(PodAgentUpkeep, a_pod_is_ready_while_its_probe_passes) {
  World w;
  w.pod(kReadiness);
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_FALSE(w.ready());
  EXPECT_TRUE(w.has_event("Unhealthy"));
  w.probes.statuses["/ready"] = 200;
  w.settle(seconds(3));
  EXPECT_TRUE(w.ready());
  w.probes.statuses["/ready"] = 500;
  w.settle(seconds(3));
  EXPECT_TRUE(w.ready());  // one or two failures are forgiven
  w.settle(seconds(4));
  EXPECT_FALSE(w.ready());
  EXPECT_EQ(w.main().restart_count, 0);
}

TEST(PodAgentUpkeep, a_new_agent_believes_what_the_last_one_said) {
  World w;
  w.probes.statuses["/ready"] = 200;
  w.pod(kReadiness);
  w.settle(seconds(3));
  EXPECT_TRUE(w.ready());
  w.stop();
  w.probes.delay = minutes(1);
  w.start();
  EXPECT_TRUE(w.ready());
}

TEST(PodAgentUpkeep, a_container_whose_liveness_fails_is_restarted) {
  World w;
  w.probes.ports[80] = true;
  w.pod(R"("livenessProbe":{"tcpSocket":{"port":80},"periodSeconds":1,"failureThreshold":3},)");
  w.settle(seconds(5));
  EXPECT_EQ(w.main().restart_count, 0);
  w.probes.ports[80] = false;
  w.settle(seconds(4));
  w.probes.ports[80] = true;
  w.settle(seconds(4));
  EXPECT_EQ(w.main().restart_count, 1);
  EXPECT_TRUE(w.main().state.running);
  EXPECT_TRUE(w.has_event("Killing"));
}

TEST(PodAgentUpkeep, liveness_waits_for_the_startup_probe) {
  World w;
  w.pod(R"("startupProbe":{"exec":{"command":["up"]},"periodSeconds":1,"failureThreshold":60},)"
        R"("livenessProbe":{"tcpSocket":{"port":80},"periodSeconds":1,"failureThreshold":1},)");
  w.settle(seconds(20));
  EXPECT_EQ(w.main().restart_count, 0);
  EXPECT_EQ(w.main().started, false);
  w.probes.programs["up"] = {};
  w.probes.ports[80] = true;
  w.settle(seconds(3));
  EXPECT_EQ(w.main().started, true);
  EXPECT_TRUE(w.ready());
  w.probes.ports[80] = false;
  w.settle(seconds(3));
  EXPECT_EQ(w.main().restart_count, 1);
}

TEST(PodAgentUpkeep, a_post_start_hook_comes_before_everything_else) {
  World w;
  w.probes.programs["prepare"] = {};
  w.probes.delay = seconds(5);
  w.pod(R"("lifecycle":{"postStart":{"exec":{"command":["prepare"]}}},)");
  EXPECT_EQ(w.status().phase, "Pending");
  EXPECT_EQ(w.main().state.waiting->reason, "ContainerCreating");
  w.settle(seconds(6));
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_TRUE(w.ready());
}

TEST(PodAgentUpkeep, a_post_start_hook_that_fails_ends_its_container) {
  World w;
  w.probes.programs["prepare"] = {.exit_code = 1};
  w.pod(R"("lifecycle":{"postStart":{"exec":{"command":["prepare"]}}},)");
  w.settle(seconds(2));
  EXPECT_TRUE(w.has_event("FailedPostStartHook"));
  EXPECT_GE(w.main().restart_count, 1);
}

TEST(PodAgentUpkeep, a_pre_stop_hook_runs_before_the_signal) {
  World w;
  w.pod(R"("lifecycle":{"preStop":{"sleep":{"seconds":5}}},)", R"("activeDeadlineSeconds":5,)");
  w.settle(seconds(6));
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_EQ(w.pods.running(), 1u);
  EXPECT_EQ(w.pods.find(w.uid())->state.last("c")->asked_to_end, 0);
  w.settle(seconds(5));
  EXPECT_EQ(w.status().reason, "DeadlineExceeded");
  EXPECT_EQ(w.pods.running(), 0u);
  EXPECT_GT(w.pods.find(w.uid())->state.last("c")->asked_to_end, 0);
}

TEST(PodAgentUpkeep, hooks_run_too_when_the_node_stops) {
  World w;
  w.probes.programs["bye"] = {};
  w.pod(R"("lifecycle":{"preStop":{"exec":{"command":["bye"]}}},)");
  EXPECT_TRUE(*run(w.env.loop, w.agent->stop_pods()));
  EXPECT_EQ(w.probes.asked.back(), "exec " + w.uid() + "/c bye");
  EXPECT_EQ(w.pods.running(), 0u);
}

TEST(PodAgentUpkeep, a_pod_that_fills_the_disk_is_evicted_within_ten_seconds) {
  World w;
  w.pod("", R"("volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Mi"}}],)");
  w.settle(seconds(20));
  EXPECT_EQ(w.status().phase, "Running");
  w.pods.usages["a"].volumes["v"] = 2 << 20;
  w.settle(seconds(10));
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "Evicted");
  EXPECT_EQ(w.status().message, "Usage of EmptyDir volume \"v\" exceeds the limit \"1Mi\". ");
  EXPECT_TRUE(w.has_event("Evicted"));
  EXPECT_EQ(w.pods.running(), 0u);
}

TEST(PodAgentUpkeep, a_look_that_takes_long_is_repeated_as_soon_as_others) {
  World w;
  w.pods.looking["a"] = seconds(4);
  w.pod("", R"("volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Mi"}}],)");
  w.settle(seconds(40));
  EXPECT_EQ(w.status().phase, "Running");
  w.pods.usages["a"].volumes["v"] = 2 << 20;
  w.settle(seconds(11));
  EXPECT_EQ(w.status().reason, "Evicted");
}

TEST(PodAgentUpkeep, a_look_that_takes_long_keeps_no_other_pod_waiting) {
  World w;
  w.pods.looking["slow"] = minutes(10);
  w.pod("", "", "slow");
  w.pod("", R"("volumes":[{"name":"v","emptyDir":{"sizeLimit":"1Mi"}}],)");
  w.settle(seconds(20));
  w.pods.usages["a"].volumes["v"] = 2 << 20;
  w.settle(seconds(10));
  EXPECT_EQ(w.status().reason, "Evicted");
  EXPECT_EQ(w.status("slow").phase, "Running");
}

TEST(PodAgentUpkeep, what_a_hook_ends_when_the_node_stops_has_not_succeeded) {
  World w;
  w.probes.programs["bye"] = {};
  w.probes.delay = seconds(3);
  w.pod(R"("lifecycle":{"preStop":{"exec":{"command":["bye"]}}},)", R"("restartPolicy":"Never",)");
  TaskGroup group(w.env.loop);
  group.spawn(w.stop_pods());
  w.settle();
  // Before any signal: what it came to now would be the work of the hook.
  EXPECT_EQ(w.pods.find(w.uid())->state.last("c")->asked_to_end, 0);
  EXPECT_TRUE(w.pods.find(w.uid())->state.last("c")->cut_off);
  EXPECT_TRUE(run(w.env.loop, group.join()));
  w.stop();
  w.start();
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "NodeShutdown");
}

TEST(PodAgentUpkeep, a_pod_too_many_is_rejected_and_room_comes_back) {
  World w;
  w.pod("", "", "a");
  w.pod("", R"("restartPolicy":"Never","activeDeadlineSeconds":20,)", "b");
  w.pod("", "", "c");
  EXPECT_EQ(w.status("b").phase, "Running");
  EXPECT_EQ(w.status("c").phase, "Failed");
  EXPECT_EQ(w.status("c").reason, "OutOfpods");
  EXPECT_TRUE(w.status("c").message.ends_with("requested: 1, used: 2, capacity: 2"));
  w.settle(seconds(30));
  EXPECT_EQ(w.status("b").phase, "Failed");
  w.pod("", "", "d");
  EXPECT_EQ(w.status("d").phase, "Running");
}

TEST(PodAgentUpkeep, volumes_follow_their_objects) {
  World w;
  w.config_map("one");
  w.pod("", R"("volumes":[{"name":"v","configMap":{"name":"cm"}}],)");
  EXPECT_EQ(w.file("v"), "one");
  w.config_map("two");
  w.settle(minutes(1));
  EXPECT_EQ(w.file("v"), "two");
  w.service.erase(kConfigMaps, {"default", "cm"});
  w.settle(minutes(2));
  EXPECT_EQ(w.file("v"), "two");
  EXPECT_EQ(w.status().phase, "Running");
}

TEST(PodAgentUpkeep, volumes_follow_their_objects_also_when_the_clock_is_set) {
  World w;
  w.config_map("one");
  w.pod("", R"("volumes":[{"name":"v","configMap":{"name":"cm"}}],)");
  w.clock.jump(-std::chrono::hours(24));
  w.config_map("two");
  w.settle(minutes(3));
  EXPECT_EQ(w.file("v"), "two");
  w.clock.jump(std::chrono::hours(48));
  w.config_map("three");
  w.settle(minutes(3));
  EXPECT_EQ(w.file("v"), "three");
  EXPECT_EQ(w.status().phase, "Running");
}

TEST(PodAgentUpkeep, tokens_are_renewed_before_they_end_and_not_sooner) {
  World w;
  int asked = 0;
  w.service.set_intercept([&](const net::Request& request) -> std::optional<net::Response> {
    if (!request.target.contains("/serviceaccounts/default/token")) {
      return std::nullopt;
    }
    const std::string expires = to_rfc3339(w.env.clock.wall() + seconds(1000));
    return net::make_response(
        201, "application/json",
        Bytes::from(R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","status":)"
                    R"({"token":"t)" +
                    std::to_string(++asked) + R"(","expirationTimestamp":")" + expires + R"("}})"));
  });
  w.pod("", R"("volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":)"
            R"({"path":"token","expirationSeconds":1000}}]}}],)");
  EXPECT_EQ(w.file("v"), "t1");
  w.settle(seconds(780));
  EXPECT_EQ(w.file("v"), "t1");
  w.settle(seconds(60));
  EXPECT_EQ(w.file("v"), "t2");
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace codeflare::node
