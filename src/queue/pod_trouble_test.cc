#include "queue/pod_trouble.h"

#include "model/resource_list.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::queue {
namespace {

using Kind = PodTrouble::Kind;
using model::Pod;
using std::chrono::seconds;

constexpr WallTime kThen = WallTime(seconds(1'700'000'000));

Pod pod(const std::string& name = "p") {
  Pod made;
  made.metadata.name = name;
  made.metadata.creation_timestamp = kThen;
  made.spec.node_name = "n1";
  made.spec.containers.push_back({.name = "main", .image = "python:3.12"});
  made.status.phase = "Running";
  made.status.container_statuses.push_back({.name = "main"});
  return made;
}

Pod ended(std::int32_t code, const std::string& reason = "Error", const std::string& message = "",
          const std::string& name = "p") {
  Pod made = pod(name);
  made.status.phase = "Failed";
  made.status.container_statuses[0].state.terminated = {
      .exit_code = code, .reason = reason, .message = message, .finished_at = kThen + seconds(9)};
  return made;
}

Pod waiting(const std::string& reason, const std::string& message = "") {
  Pod made = pod();
  made.status.phase = "Pending";
  made.status.container_statuses[0].state.waiting = {.reason = reason, .message = message};
  return made;
}

Pod gone(const std::string& reason, const std::string& message) {
  Pod made = ended(137);
  made.status.reason = reason;
  made.status.message = message;
  return made;
}

Pod with_limit(Pod made, const std::string& amount) {
  made.spec.containers[0].resources.limits.set("memory", *model::Quantity::parse(amount));
  return made;
}

Pod unschedulable() {
  Pod made = pod();
  made.spec.node_name.clear();
  made.status.phase = "Pending";
  made.status.container_statuses.clear();
  made.status.conditions.push_back({.type = "PodScheduled",
                                    .status = "False",
                                    .reason = "Unschedulable",
                                    .message = "0/3 nodes are available",
                                    .last_transition_time = kThen + seconds(2)});
  return made;
}

Pod crash_loop() {
  Pod made = waiting("CrashLoopBackOff", "back-off 40s restarting failed container=main");
  made.status.container_statuses[0].restart_count = 4;
  made.status.container_statuses[0].last_state.terminated = {
      .exit_code = 1, .reason = "Error", .message = "KeyError: 'lr'\n"};
  return made;
}

Pod failed_init() {
  Pod made = pod();
  made.status.container_statuses[0].state.waiting = {.reason = "PodInitializing"};
  made.status.phase = "Failed";
  made.spec.init_containers.push_back({.name = "fetch", .image = "busybox"});
  made.status.init_container_statuses.push_back({.name = "fetch"});
  made.status.init_container_statuses[0].state.terminated = {.exit_code = 4, .reason = "Error"};
  return made;
}

Pod disrupted() {
  Pod made = ended(143);
  made.status.conditions.push_back({.type = "DisruptionTarget",
                                    .status = "True",
                                    .reason = "DeletionByTaintManager",
                                    .message = "Taint manager: deleting due to NoExecute taint"});
  return made;
}

// As the API server leaves it: the node has not heard of it yet.
Pod drained() {
  Pod made = pod();
  made.status.phase = "Running";
  made.status.conditions.push_back({.type = "DisruptionTarget",
                                    .status = "True",
                                    .reason = "EvictionByEvictionAPI",
                                    .message = "Eviction API: evicting"});
  made.metadata.deletion_timestamp = kThen;
  return made;
}

struct Case {
  Pod pod;
  Kind kind;
  std::string text;
};

std::vector<Case> cases() {
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\n"
      "ModuleNotFoundError: No module named 'nosuch'\n";
  const std::string runc =
      "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
      "runc create failed: unable to start container process: error during container init: exec: "
      "\"trainn\": executable file not found in $PATH: unknown";
  return {
      {with_limit(ended(137, "OOMKilled", "", "oom-zknp2"), "64Mi"), Kind::out_of_memory,
       "pod oom-zknp2, container main: OOMKilled (137), limit 64Mi"},
      {ended(137, "OOMKilled"), Kind::out_of_memory,
       "pod p, container main: OOMKilled (137), without a limit: the node ran out of memory"},
      {ended(1, "Error", traceback), Kind::exit_code,
       "pod p, container main: exit code 1: ModuleNotFoundError: No module named 'nosuch'"},
      {ended(1), Kind::exit_code, "pod p, container main: exit code 1"},
      {ended(2, "Error", "python3: can't open file '/no/such.py'"), Kind::exit_code,
       "pod p, container main: exit code 2: python3: can't open file '/no/such.py'"},
      {ended(139), Kind::exit_code, "pod p, container main: killed by SIGSEGV (139)"},
      {ended(134, "Error", "Aborted"), Kind::exit_code,
       "pod p, container main: killed by SIGABRT (134): Aborted"},
      {ended(137), Kind::stopped, "pod p, container main: killed by SIGKILL (137)"},
      {ended(143), Kind::stopped, "pod p, container main: killed by SIGTERM (143)"},
      {ended(127), Kind::exit_code,
       "pod p, container main: exit code 127 (command not found); image python:3.12 lacks the "
       "program (on 'codeflare up': codeflare image add 'python:3.12' --python-venv DIR)"},
      {ended(126), Kind::exit_code,
       "pod p, container main: exit code 126 (command not executable)"},
      {ended(128, "StartError", runc), Kind::cannot_start,
       "pod p, container main: command not found: exec: \"trainn\": executable file not found in "
       "$PATH"},
      {ended(128, "StartError", "exec: \"/opt/x\": stat /opt/x: no such file or directory"),
       Kind::cannot_start,
       "pod p, container main: command not found: exec: \"/opt/x\": stat /opt/x: no such file or "
       "directory"},
      {ended(128, "StartError", "exec: \"/etc/passwd\": permission denied"), Kind::cannot_start,
       "pod p, container main: command cannot run: exec: \"/etc/passwd\": permission denied"},
      {ended(128, "ContainerCannotRun", "no space left on device"), Kind::cannot_start,
       "pod p, container main: cannot start: no space left on device"},
      {ended(137, "ContainerStatusUnknown", "The container could not be located"), Kind::node_lost,
       "pod p, container main: lost with its node: The container could not be located"},
      {waiting("ErrImagePull", "manifest unknown"), Kind::image,
       "pod p, container main: image python:3.12 is missing (ErrImagePull): manifest unknown"},
      {waiting("CreateContainerConfigError", "secret \"token\" not found"), Kind::cannot_start,
       "pod p, container main: CreateContainerConfigError: secret \"token\" not found"},
      {waiting("RunContainerError", "exec: \"other\": executable file not found in $PATH: unknown"),
       Kind::cannot_start,
       "pod p, container main: command not found: exec: \"other\": executable file not found in "
       "$PATH"},
      {crash_loop(), Kind::crash_loop,
       "pod p, container main: crash loop, 4 restarts, last exit code 1: KeyError: 'lr'"},
      {failed_init(), Kind::exit_code, "pod p, init container fetch: exit code 4"},
      {unschedulable(), Kind::unschedulable, "pod p: Unschedulable: 0/3 nodes are available"},
      {gone("Evicted", "The node was low on resource: memory."), Kind::evicted,
       "pod p: evicted on node n1: The node was low on resource: memory."},
      {gone("NodeLost", "Node n1 is not responsive"), Kind::node_lost,
       "pod p: lost with node n1: Node n1 is not responsive"},
      {disrupted(), Kind::node_lost,
       "pod p: lost with node n1: Taint manager: deleting due to NoExecute taint"},
      {drained(), Kind::evicted, "pod p: evicted on node n1: Eviction API: evicting"},
      {gone("DeadlineExceeded", "Pod was active on the node longer than 5s"), Kind::deadline,
       "pod p: activeDeadlineSeconds exceeded: Pod was active on the node longer than 5s"},
      {gone("OutOfcpu", "Node didn't have enough resource: cpu"), Kind::rejected,
       "pod p: OutOfcpu on node n1: Node didn't have enough resource: cpu"},
  };
}

TEST(PodTrouble, each_cause_has_its_own_line) {
  std::set<std::string> texts;
  for (const Case& each : cases()) {
    const std::optional<PodTrouble> trouble = trouble_of(each.pod);
    ASSERT_TRUE(trouble) << each.text;
    EXPECT_EQ(trouble->text(), each.text);
    EXPECT_EQ(trouble->kind, each.kind) << each.text;
    texts.insert(trouble->text());
  }
  EXPECT_EQ(texts.size(), cases().size());
}

TEST(PodTrouble, pods_that_run_start_or_ended_well_have_none) {
  EXPECT_FALSE(trouble_of(pod()));
  EXPECT_FALSE(trouble_of(waiting("ContainerCreating")));
  Pod well = ended(0, "Completed");
  well.status.phase = "Succeeded";
  EXPECT_FALSE(trouble_of(well));
}

TEST(PodTrouble, tells_what_scripts_need_apart) {
  const PodTrouble trouble = *trouble_of(crash_loop());
  EXPECT_EQ(trouble.reason, "CrashLoopBackOff");
  EXPECT_EQ(trouble.exit_code, 1);
  EXPECT_EQ(trouble.restarts, 4);
  EXPECT_EQ(trouble.log, "KeyError: 'lr'\n");
  EXPECT_TRUE(trouble.lasting);
  EXPECT_EQ(trouble_of(ended(3))->reason, "ContainerFailed");
  EXPECT_EQ(trouble_of(ended(3))->since, kThen + seconds(9));
  EXPECT_FALSE(trouble_of(ended(3))->lasting);
  EXPECT_FALSE(trouble_of(unschedulable())->lasting);
}

TEST(PodTrouble, of_a_gang_is_the_first_failure_and_not_what_followed_of_it) {
  Pod first = ended(1, "Error", "", "first");
  Pod second = ended(1, "Error", "", "second");
  second.status.container_statuses[0].state.terminated->finished_at = kThen + seconds(20);
  const Pod killed = ended(143, "Error", "", "killed");
  EXPECT_EQ(worst_trouble(std::vector{killed, second, first})->pod, "first");
  const Pod oom = with_limit(ended(137, "OOMKilled", "", "oom"), "1Gi");
  EXPECT_EQ(worst_trouble(std::vector{first, oom, second})->pod, "oom");
  first.metadata.deletion_timestamp = kThen;
  EXPECT_EQ(worst_trouble(std::vector{first, second})->pod, "second");
  EXPECT_FALSE(worst_trouble(std::vector{pod()}));
}

TEST(UnreadyPods, are_listed_with_reason_and_since_when) {
  Pod ready = pod("ready");
  ready.status.conditions.push_back({.type = "Ready", .status = "True"});
  Pod slow = pod("slow");
  slow.status.container_statuses[0].state.running = model::ContainerStateRunning();
  slow.status.conditions.push_back(
      {.type = "Ready", .status = "False", .last_transition_time = kThen + seconds(5)});
  const std::vector<UnreadyPod> found =
      unready_pods(std::vector{ready, slow, waiting("ErrImagePull", "manifest unknown"), ended(1),
                               waiting("ContainerCreating"), unschedulable()});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].why, "container main: runs and is not ready");
  EXPECT_EQ(found[0].since, kThen + seconds(5));
  EXPECT_EQ(found[0].node, "n1");
  EXPECT_EQ(found[1].why,
            "container main: image python:3.12 is missing (ErrImagePull): manifest unknown");
  EXPECT_EQ(found[1].since, kThen);
  EXPECT_EQ(found[2].why, "container main: ContainerCreating");
  EXPECT_EQ(found[3].why, "Unschedulable: 0/3 nodes are available");
  EXPECT_EQ(found[3].node, "");
}

TEST(LastLine, is_short_and_has_no_control_characters) {
  EXPECT_EQ(last_line(""), "");
  EXPECT_EQ(last_line(" \n\n"), "");
  EXPECT_EQ(last_line("a\n  b \r\n\n"), "b");
  EXPECT_EQ(last_line("\x1b[31mred"), " [31mred");
  const std::string longest = last_line(std::string(299, 'x') + "\xC3\xA4" + "tail");
  EXPECT_EQ(longest, std::string(299, 'x') + "...");
}

}  // namespace
}  // namespace codeflare::queue
