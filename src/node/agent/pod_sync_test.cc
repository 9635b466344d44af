#include "node/agent/pod_sync.h"

#include "model/condition.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = Step::Kind;

const WallTime kStart{seconds(1'700'000'000)};

model::Container container(std::string name, std::string restart_policy = {}) {
  model::Container one;
  one.name = std::move(name);
  one.image = "x";
  one.command = {"run"};
  one.restart_policy = std::move(restart_policy);
  return one;
}

// One pod, its runs and the time, moved by hand; statuses are taken over as the API server would.
struct World {
  ObservedPod observed;
  WallTime now = kStart;

  explicit World(std::string policy = "Always") {
    observed.pod.metadata.ns = "default";
    observed.pod.metadata.name = "p";
    observed.pod.metadata.uid = "u";
    observed.pod.metadata.generation = 1;
    observed.pod.spec.restart_policy = std::move(policy);
    observed.pod.spec.containers = {container("c")};
    observed.seen = kStart;
    observed.addresses = {"10.0.0.1", "127.0.0.1"};
  }

  PodDecision look() {
    PodDecision decision = decide(observed, now);
    if (decision.status) {
      observed.pod.status = *decision.status;
    }
    return decision;
  }
  void sandbox() { observed.sandbox.emplace().alive = true; }
  RunRecord& run(std::string name, std::int32_t attempt = 0) {
    auto& runs = observed.sandbox->state.runs;
    runs.push_back({.name = std::move(name),
                    .attempt = attempt,
                    .sandbox = observed.sandbox->state.sandbox,
                    .state = "running",
                    .started = now.time_since_epoch().count()});
    return runs.back();
  }
  void exit(std::string_view name, std::int32_t code) {
    const RunRecord* last = observed.sandbox->state.last(name);
    RunRecord* found = observed.sandbox->state.find(name, last->attempt);
    found->state = "exited";
    found->exit_code = code;
    found->finished = now.time_since_epoch().count();
  }
  void cut_off(std::string_view name) {
    asked(name);
    observed.sandbox->state.find(name, observed.sandbox->state.last(name)->attempt)->cut_off = true;
  }
  // The node ends and starts again.
  void end_sandbox() { observed.sandbox->alive = false; }
  void new_sandbox() {
    observed.sandbox->alive = true;
    ++observed.sandbox->state.sandbox;
  }
  void asked(std::string_view name) {
    observed.sandbox->state.find(name, observed.sandbox->state.last(name)->attempt)->asked_to_end =
        now.time_since_epoch().count();
  }
  // From nothing to running.
  void up() {
    look();
    sandbox();
    look();
    run("c");
    look();
  }
  const model::PodStatus& status() const { return observed.pod.status; }
  const model::ContainerStatus& main() const { return status().container_statuses.at(0); }
  bool holds(std::string_view condition) const {
    return model::is_condition_true(status().conditions, condition);
  }
};

TEST(PodSync, makes_a_sandbox_then_starts_then_runs) {
  World w;
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::make_sandbox}}));
  EXPECT_EQ(w.status().phase, "Pending");
  EXPECT_EQ(w.main().state.waiting->reason, "ContainerCreating");
  EXPECT_TRUE(w.status().pod_ip.empty());
  EXPECT_FALSE(w.holds("PodReadyToStartContainers"));
  w.sandbox();
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
  EXPECT_EQ(w.status().pod_ip, "10.0.0.1");
  w.run("c");
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_TRUE(w.main().ready);
  EXPECT_EQ(w.main().container_id, "codeflare://u/c/0");
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"}) {
    EXPECT_TRUE(w.holds(type)) << type;
  }
  EXPECT_EQ(w.status().observed_generation, 1);
}

TEST(PodSync, says_nothing_twice) {
  World w;
  w.up();
  w.now += minutes(3);
  const PodDecision again = w.look();
  EXPECT_FALSE(again.status);
  EXPECT_TRUE(again.steps.empty());
  EXPECT_FALSE(again.look_again);
}

TEST(PodSync, a_pod_that_never_restarts_ends_with_its_containers) {
  for (int code : {0, 3}) {
    World w("Never");
    w.up();
    w.now += seconds(5);
    w.exit("c", code);
    EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::close_sandbox}}));
    EXPECT_EQ(w.status().phase, code == 0 ? "Succeeded" : "Failed");
    EXPECT_EQ(w.main().state.terminated->exit_code, code);
    EXPECT_EQ(w.main().state.terminated->reason, code == 0 ? "Completed" : "Error");
    EXPECT_EQ(model::find_condition(w.status().conditions, "Ready")->reason,
              code == 0 ? "PodCompleted" : "PodFailed");
    w.observed.sandbox->alive = false;
    w.look();
    EXPECT_TRUE(w.look().steps.empty());
    EXPECT_FALSE(w.look().status);
  }
}

TEST(PodSync, on_failure_restarts_failures_only) {
  World w("OnFailure");
  w.up();
  w.exit("c", 1);
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "c", .attempt = 1}}));
  w.run("c", 1);
  w.look();
  EXPECT_EQ(w.main().restart_count, 1);
  EXPECT_EQ(w.main().last_state.terminated->exit_code, 1);
  w.exit("c", 0);
  w.look();
  EXPECT_EQ(w.status().phase, "Succeeded");
}

TEST(PodSync, crashes_wait_longer_each_time_and_say_so) {
  World w;
  w.up();
  w.exit("c", 1);
  w.look();
  std::int64_t waited_ms = 0;
  for (std::int32_t attempt = 1; attempt <= 8; ++attempt) {
    w.run("c", attempt).backoff_ms = waited_ms;
    w.now += seconds(1);
    w.look();
    w.exit("c", 1);
    const PodDecision decision = w.look();
    EXPECT_TRUE(decision.steps.empty());
    EXPECT_EQ(w.main().state.waiting->reason, "CrashLoopBackOff");
    EXPECT_EQ(w.main().last_state.terminated->exit_code, 1);
    EXPECT_EQ(w.status().phase, "Running");
    const Duration expected = std::min<Duration>(seconds(10) * (1 << (attempt - 1)), minutes(5));
    ASSERT_TRUE(decision.look_again);
    EXPECT_EQ(*decision.look_again, expected) << attempt;
    w.now += expected;
    const PodDecision start = w.look();
    ASSERT_EQ(start.steps.size(), 1u);
    EXPECT_EQ(start.steps[0].attempt, attempt + 1);
    waited_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(start.steps[0].waited).count();
    EXPECT_EQ(waited_ms, std::chrono::duration_cast<std::chrono::milliseconds>(expected).count());
  }
  EXPECT_TRUE(w.main().state.waiting || w.main().state.terminated);
}

TEST(PodSync, a_long_run_is_forgiven) {
  RunRecord run{.attempt = 5, .started = 1, .backoff_ms = 160'000};
  run.finished = run.started + Duration(minutes(11)).count();
  EXPECT_EQ(restart_delay(run), Duration::zero());
  run.finished = run.started + Duration(minutes(9)).count();
  EXPECT_EQ(restart_delay(run), Duration(minutes(5)));
}

TEST(PodSync, init_containers_run_one_after_the_other) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("a"), container("b")};
  w.look();
  w.sandbox();
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "a"}}));
  EXPECT_EQ(w.main().state.waiting->reason, "PodInitializing");
  w.run("a");
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(model::find_condition(w.status().conditions, "Initialized")->message,
            "containers with incomplete status: [a b]");
  w.exit("a", 0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "b"}}));
  w.run("b");
  w.look();
  w.exit("b", 0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
  EXPECT_TRUE(w.holds("Initialized"));
  EXPECT_EQ(w.status().phase, "Pending");
  EXPECT_TRUE(w.status().init_container_statuses.at(0).ready);
}

TEST(PodSync, a_failed_init_container_fails_a_pod_that_never_restarts) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("a")};
  w.sandbox();
  w.run("a");
  w.exit("a", 2);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::close_sandbox}}));
  EXPECT_EQ(w.status().phase, "Failed");
}

TEST(PodSync, a_failed_init_container_is_tried_again_elsewhere) {
  World w("Always");
  w.observed.pod.spec.init_containers = {container("a")};
  w.sandbox();
  w.run("a");
  w.exit("a", 2);
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "a", .attempt = 1}}));
  w.run("a", 1);
  w.exit("a", 0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
}

TEST(PodSync, sidecars_run_beside_and_end_last) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("s", "Always")};
  w.look();
  w.sandbox();
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "s"}}));
  w.run("s");
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
  w.run("c");
  w.look();
  EXPECT_TRUE(w.holds("Ready"));
  w.exit("c", 0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "s"}}));
  EXPECT_EQ(w.status().phase, "Running");
  w.asked("s");
  w.exit("s", 143);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::close_sandbox}}));
  EXPECT_EQ(w.status().phase, "Succeeded");
}

TEST(PodSync, sidecars_end_one_after_the_other_the_last_first) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("s", "Always"), container("t", "Always")};
  w.sandbox();
  w.run("s");
  w.run("t");
  w.run("c");
  w.look();
  w.exit("c", 0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "t"}}));
  w.asked("t");
  EXPECT_TRUE(w.look().steps.empty());
  w.exit("t", 143);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "s"}}));
}

TEST(PodSync, sidecars_are_asked_at_once_when_the_time_of_a_deleted_pod_is_up) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("s", "Always"), container("t", "Always")};
  w.sandbox();
  w.run("s");
  w.run("t");
  w.observed.pod.metadata.deletion_timestamp = w.now;
  w.observed.pod.metadata.deletion_grace_period_seconds = 30;
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "s"},
                                               {.kind = Kind::ask_to_end, .container = "t"}}));
}

TEST(PodSync, deletion_asks_waits_kills_and_drops) {
  World w;
  w.up();
  w.observed.pod.metadata.deletion_timestamp = w.now + seconds(30);
  w.observed.pod.metadata.deletion_grace_period_seconds = 30;
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c"}}));
  w.asked("c");
  w.now += seconds(10);
  PodDecision waiting = w.look();
  EXPECT_TRUE(waiting.steps.empty());
  EXPECT_FALSE(waiting.drop);
  EXPECT_EQ(*waiting.look_again, Duration(seconds(20)));
  w.now += seconds(20);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
  w.exit("c", 137);
  const PodDecision last = w.look();
  EXPECT_EQ(last.steps, (std::vector<Step>{{.kind = Kind::close_sandbox}}));
  EXPECT_TRUE(last.drop);
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.main().state.terminated->exit_code, 137);
}

TEST(PodSync, a_pod_that_never_ran_is_dropped_at_once) {
  World w;
  w.observed.pod.metadata.deletion_timestamp = w.now;
  w.observed.pod.metadata.deletion_grace_period_seconds = 30;
  const PodDecision decision = w.look();
  EXPECT_TRUE(decision.steps.empty());
  EXPECT_TRUE(decision.drop);
}

TEST(PodSync, finalizers_hold_an_object_that_is_done) {
  World w("Never");
  w.up();
  w.exit("c", 0);
  w.look();
  w.observed.pod.metadata.finalizers = {"x/y"};
  w.observed.pod.metadata.deletion_timestamp = w.now;
  w.observed.pod.metadata.deletion_grace_period_seconds = 0;
  EXPECT_FALSE(w.look().drop);
}

TEST(PodSync, the_active_deadline_ends_a_pod_with_grace_and_then_it_has_failed) {
  World w("Never");
  w.observed.pod.spec.active_deadline_seconds = 60;
  w.observed.pod.spec.termination_grace_period_seconds = 5;
  w.up();
  EXPECT_EQ(*w.look().look_again, Duration(seconds(60)));
  w.now += seconds(60);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c"}}));
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_TRUE(w.status().reason.empty());
  w.asked("c");
  w.now += seconds(5);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
  EXPECT_EQ(w.status().phase, "Running");
  w.exit("c", 137);
  w.look();
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "DeadlineExceeded");
  EXPECT_EQ(w.main().state.terminated->exit_code, 137);
}

TEST(PodSync, what_cannot_be_started_waits_with_its_reason) {
  World w;
  w.look();
  w.sandbox();
  w.observed.start_failures["c"] = {{"ErrImagePull", "nothing stands for it"}, w.now + seconds(10)};
  const PodDecision decision = w.look();
  EXPECT_TRUE(decision.steps.empty());
  EXPECT_EQ(*decision.look_again, Duration(seconds(10)));
  EXPECT_EQ(w.main().state.waiting->reason, "ErrImagePull");
  EXPECT_EQ(w.status().phase, "Pending");
  w.now += seconds(10);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
}

TEST(PodSync, a_program_that_is_not_there_is_a_start_error) {
  World w("Never");
  w.up();
  w.observed.sandbox->state.runs.back().error = "exec: \"x\": executable file not found in $PATH";
  w.exit("c", 128);
  w.look();
  EXPECT_EQ(w.main().state.terminated->reason, "StartError");
  EXPECT_EQ(w.main().state.terminated->message, "exec: \"x\": executable file not found in $PATH");
  EXPECT_EQ(w.status().phase, "Failed");
}

TEST(PodSync, a_lost_keeper_fails_pods_that_may_not_restart) {
  World w("Never");
  w.up();
  w.observed.sandbox->state.lose(w.now.time_since_epoch().count());
  w.observed.sandbox->alive = false;
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "NodeShutdown");
  EXPECT_EQ(w.main().state.terminated->exit_code, 137);
}

TEST(PodSync, a_lost_keeper_is_replaced_where_containers_restart) {
  World w("OnFailure");
  w.up();
  w.observed.sandbox->state.lose(w.now.time_since_epoch().count());
  w.observed.sandbox->alive = false;
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::make_sandbox}}));
  EXPECT_EQ(w.status().phase, "Running");
  w.observed.sandbox->alive = true;
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "c", .attempt = 1}}));
}

TEST(PodSync, what_the_node_ended_is_no_crash) {
  World w;
  w.up();
  w.exit("c", 1);
  w.look();
  w.run("c", 1);
  w.look();
  // A container that is ended by its node waits for nothing.
  w.asked("c");
  w.exit("c", 143);
  w.observed.cut_off["c"] = 1;
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "c", .attempt = 2}}));
  // Another end of it counts.
  w.run("c", 2);
  w.look();
  w.exit("c", 1);
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.main().state.waiting->reason, "CrashLoopBackOff");
}

TEST(PodSync, what_the_node_ended_has_not_succeeded_whatever_its_code) {
  World w("Never");
  w.up();
  w.cut_off("c");
  w.exit("c", 0);
  w.end_sandbox();
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "NodeShutdown");
  EXPECT_EQ(w.main().state.terminated->exit_code, 0);
}

TEST(PodSync, what_the_node_ended_runs_again_whatever_its_code) {
  for (const char* policy : {"OnFailure", "Always"}) {
    World w(policy);
    w.up();
    w.cut_off("c");
    w.exit("c", 0);
    w.end_sandbox();
    EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::make_sandbox}})) << policy;
    w.new_sandbox();
    EXPECT_EQ(w.look().steps,
              (std::vector<Step>{{.kind = Kind::start, .container = "c", .attempt = 1}}))
        << policy;
  }
}

TEST(PodSync, an_init_container_that_the_node_ended_has_not_prepared_anything) {
  for (const char* policy : {"Never", "OnFailure"}) {
    World w(policy);
    w.observed.pod.spec.init_containers = {container("a")};
    w.sandbox();
    w.run("a");
    w.cut_off("a");
    w.exit("a", 0);
    w.end_sandbox();
    const PodDecision decision = w.look();
    if (w.observed.pod.spec.restart_policy == "Never") {
      EXPECT_EQ(w.status().reason, "NodeShutdown");
      continue;
    }
    EXPECT_EQ(decision.steps, (std::vector<Step>{{.kind = Kind::make_sandbox}}));
    w.new_sandbox();
    EXPECT_EQ(w.look().steps,
              (std::vector<Step>{{.kind = Kind::start, .container = "a", .attempt = 1}}));
  }
}

TEST(PodSync, a_container_that_ended_before_its_node_keeps_its_own_result) {
  World w("OnFailure");
  w.observed.pod.spec.containers.push_back(container("d"));
  w.up();
  w.run("d");
  w.exit("c", 0);
  w.look();
  w.cut_off("d");
  w.exit("d", 0);
  w.end_sandbox();
  w.look();
  w.new_sandbox();
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "d", .attempt = 1}}));
}

TEST(PodSync, init_containers_and_sidecars_have_their_turn_again_in_a_new_sandbox) {
  World w;
  w.observed.pod.spec.init_containers = {container("a"), container("s", "Always"), container("b")};
  w.sandbox();
  w.run("a");
  w.exit("a", 0);
  w.run("s");
  w.run("b");
  w.exit("b", 0);
  w.run("c");
  w.look();
  EXPECT_EQ(w.status().phase, "Running");
  w.cut_off("c");
  w.exit("c", 143);
  w.cut_off("s");
  w.exit("s", 143);
  w.end_sandbox();
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::make_sandbox}}));
  w.new_sandbox();
  const auto next = [&](std::string name) {
    EXPECT_EQ(w.look().steps,
              (std::vector<Step>{{.kind = Kind::start, .container = name, .attempt = 1}}));
    w.run(std::move(name), 1);
    return w.look().steps.empty();
  };
  EXPECT_TRUE(next("a"));
  // It has been Running, and is initialized once and for all; its status shows what it waits for.
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_TRUE(w.holds("Initialized"));
  EXPECT_EQ(w.main().state.waiting->reason, "PodInitializing");
  EXPECT_EQ(w.main().last_state.terminated->exit_code, 143);
  EXPECT_FALSE(w.status().init_container_statuses.at(2).ready);
  w.exit("a", 0);
  EXPECT_FALSE(next("s"));  // its start lets the next one begin
  EXPECT_TRUE(next("b"));
  w.exit("b", 0);
  EXPECT_TRUE(next("c"));
  EXPECT_TRUE(w.holds("Ready"));
}

TEST(PodSync, nothing_has_its_turn_again_in_a_pod_that_is_done) {
  World w("Never");
  w.observed.pod.spec.init_containers = {container("a"), container("s", "Always")};
  w.sandbox();
  w.run("a");
  w.exit("a", 0);
  w.run("s");
  w.run("c");
  w.look();
  w.exit("c", 0);
  w.cut_off("s");
  w.exit("s", 143);
  w.end_sandbox();
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.status().phase, "Succeeded");
  EXPECT_TRUE(w.status().init_container_statuses.at(0).ready);
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_FALSE(w.look().status);
}

TEST(PodSync, a_lost_keeper_is_no_crash_of_its_containers) {
  RunRecord run{.attempt = 5, .started = 1, .backoff_ms = 160'000};
  run.finished = run.started + Duration(seconds(10)).count();
  run.error = kKeeperLost;
  EXPECT_EQ(restart_delay(run), Duration::zero());
}

TEST(PodSync, containers_whose_keeper_is_lost_at_once_wait_as_after_a_crash) {
  RunRecord run{.attempt = 5, .started = 1, .backoff_ms = 80'000};
  run.finished = run.started + Duration(seconds(9)).count();
  run.error = kKeeperLost;
  EXPECT_EQ(restart_delay(run), Duration(seconds(160)));
  run.started = 0;  // nor had it begun
  EXPECT_EQ(restart_delay(run), Duration(seconds(160)));
}

TEST(PodSync, a_pod_that_had_succeeded_before_its_keeper_went_has_succeeded) {
  World w("Never");
  w.up();
  w.exit("c", 0);
  w.observed.sandbox->alive = false;
  w.look();
  EXPECT_EQ(w.status().phase, "Succeeded");
  EXPECT_TRUE(w.status().reason.empty());
}

TEST(PodSync, a_rejected_pod_is_failed_with_the_reason) {
  World w;
  w.observed.rejected = StartProblem{"UnexpectedAdmissionError", "no devices"};
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "UnexpectedAdmissionError");
  EXPECT_TRUE(w.status().container_statuses.empty()) << "nothing of it is being created";
}

TEST(PodSync, readiness_gates_are_waited_for) {
  World w;
  w.observed.pod.spec.readiness_gates = {{.condition_type = "x/y", .extra = {}}};
  w.up();
  EXPECT_TRUE(w.holds("ContainersReady"));
  EXPECT_FALSE(w.holds("Ready"));
  w.observed.pod.status.conditions.push_back({.type = "x/y", .status = "True"});
  w.look();
  EXPECT_TRUE(w.holds("Ready"));
}

}  // namespace
}  // namespace codeflare::node
