#include "model/condition.h"
#include "node/agent/pod_sync.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using std::chrono::seconds;
using Kind = Step::Kind;

const WallTime kStart{seconds(1'700'000'000)};

// A pod with one container that runs, and what probes and hooks say about it.
struct World {
  ObservedPod observed;
  WallTime now = kStart;

  explicit World(std::string policy = "Always") {
    observed.pod.metadata.ns = "default";
    observed.pod.metadata.name = "p";
    observed.pod.metadata.uid = "u";
    observed.pod.spec.restart_policy = std::move(policy);
    observed.seen = kStart;
    add("c");
    observed.sandbox.emplace().alive = true;
    run("c");
  }
  model::Container& add(std::string name) {
    model::Container& one = observed.pod.spec.containers.emplace_back();
    one.name = std::move(name);
    return one;
  }
  model::Container& container() { return observed.pod.spec.containers.at(0); }
  void run(std::string name, std::int32_t attempt = 0) {
    observed.sandbox->state.runs.push_back({.name = std::move(name),
                                            .attempt = attempt,
                                            .state = "running",
                                            .started = now.time_since_epoch().count()});
  }
  RunRecord& last() { return observed.sandbox->state.runs.back(); }
  ContainerHealth& health() { return observed.health["c"]; }
  void asked() { last().asked_to_end = now.time_since_epoch().count(); }
  void exit(std::int32_t code) {
    last().state = "exited";
    last().exit_code = code;
    last().finished = now.time_since_epoch().count();
  }
  void hook() { container().lifecycle.emplace().pre_stop.emplace().sleep.emplace().seconds = 1; }
  void delete_with(std::int64_t grace) {
    observed.pod.metadata.deletion_timestamp = now + seconds(grace);
    observed.pod.metadata.deletion_grace_period_seconds = grace;
  }
  PodDecision look() {
    PodDecision decision = decide(observed, now);
    if (decision.status) {
      observed.pod.status = *decision.status;
    }
    return decision;
  }
  const model::PodStatus& status() const { return observed.pod.status; }
  const model::ContainerStatus& main() const { return status().container_statuses.at(0); }
  bool holds(std::string_view condition) const {
    return model::is_condition_true(status().conditions, condition);
  }
};

TEST(PodSyncHealth, a_container_is_ready_when_its_probe_says_so) {
  World w;
  w.container().readiness_probe.emplace();
  w.look();
  EXPECT_FALSE(w.main().ready);
  EXPECT_EQ(w.main().started, true);
  EXPECT_FALSE(w.holds("Ready"));
  EXPECT_EQ(model::find_condition(w.status().conditions, "ContainersReady")->message,
            "containers with unready status: [c]");
  EXPECT_EQ(w.status().phase, "Running");
  w.health() = {.started = true, .ready = true};
  w.look();
  EXPECT_TRUE(w.main().ready);
  EXPECT_TRUE(w.holds("Ready"));
  w.health().ready = false;
  w.look();
  EXPECT_FALSE(w.holds("Ready"));
}

TEST(PodSyncHealth, what_was_said_about_an_earlier_run_does_not_count) {
  World w;
  w.container().readiness_probe.emplace();
  w.health() = {.attempt = 0, .started = true, .ready = true};
  w.exit(1);
  w.look();
  w.run("c", 1);
  w.look();
  EXPECT_FALSE(w.main().ready);
}

TEST(PodSyncHealth, a_container_has_started_when_its_startup_probe_has_passed) {
  World w;
  w.container().startup_probe.emplace();
  w.look();
  EXPECT_EQ(w.main().started, false);
  EXPECT_FALSE(w.main().ready);
  w.health() = {.started = true, .ready = true};
  w.look();
  EXPECT_EQ(w.main().started, true);
  EXPECT_TRUE(w.main().ready);
}

TEST(PodSyncHealth, a_sidecar_lets_the_next_begin_when_it_has_started) {
  World w;
  w.observed.sandbox->state.runs.clear();
  model::Container side;
  side.name = "s";
  side.restart_policy = "Always";
  side.startup_probe.emplace();
  w.observed.pod.spec.init_containers = {side};
  w.run("s");
  EXPECT_TRUE(w.look().steps.empty());
  EXPECT_FALSE(w.holds("Initialized"));
  w.observed.health["s"] = {.started = true, .ready = true};
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "c"}}));
}

TEST(PodSyncHealth, a_container_that_failed_its_probe_is_ended_with_grace_and_restarted) {
  World w;
  w.container().liveness_probe.emplace();
  w.health() = {.started = true, .ready = true, .doom = Doom{"failed", Duration(seconds(5))}};
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c", .because = "failed"}}));
  w.asked();
  w.now += seconds(4);
  EXPECT_TRUE(w.look().steps.empty());
  w.now += seconds(1);
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::kill, .container = "c", .because = "failed"}}));
  w.exit(137);
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{{.kind = Kind::start, .container = "c", .attempt = 1}}));
  EXPECT_EQ(w.status().phase, "Running");
}

TEST(PodSyncHealth, where_nothing_restarts_a_failed_probe_fails_the_pod) {
  World w("Never");
  w.health() = {.doom = Doom{"failed"}};
  w.look();
  w.asked();
  w.exit(143);
  w.look();
  EXPECT_EQ(w.status().phase, "Failed");
}

TEST(PodSyncHealth, a_container_is_still_being_created_while_its_post_start_hook_runs) {
  World w;
  w.add("d");
  w.health() = {.post_start_pending = true};
  EXPECT_TRUE(w.look().steps.empty());  // the next one waits for it
  EXPECT_EQ(w.main().state.waiting->reason, "ContainerCreating");
  EXPECT_EQ(w.status().phase, "Pending");
  w.health() = {.started = true, .ready = true};
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::start, .container = "d"}}));
  EXPECT_TRUE(w.main().state.running);
}

TEST(PodSyncHealth, the_pre_stop_hook_comes_first_and_takes_of_the_grace) {
  World w;
  w.hook();
  w.health() = {.started = true, .ready = true};
  w.look();
  w.delete_with(30);
  EXPECT_EQ(w.look().steps,
            (std::vector<Step>{
                {.kind = Kind::pre_stop, .container = "c", .waited = Duration(seconds(30))}}));
  w.health().pre_stop_began = w.now;
  w.now += seconds(10);
  EXPECT_TRUE(w.look().steps.empty());
  w.health().pre_stop_done = true;
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c"}}));
  w.asked();
  w.now += seconds(19);
  EXPECT_TRUE(w.look().steps.empty());
  w.now += seconds(1);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
}

TEST(PodSyncHealth, a_hook_that_takes_all_the_grace_leaves_two_seconds_for_the_end) {
  World w;
  w.hook();
  w.health() = {.started = true, .ready = true};
  w.delete_with(5);
  w.look();
  w.health().pre_stop_began = w.now;
  w.now += seconds(5);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c"}}));
  w.asked();
  w.now += seconds(1);
  EXPECT_TRUE(w.look().steps.empty());
  w.now += seconds(1);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
}

TEST(PodSyncHealth, without_grace_no_hook_is_run) {
  World w;
  w.hook();
  w.delete_with(0);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
}

TEST(PodSyncHealth, an_evicted_pod_ends_within_a_second_and_then_it_has_failed) {
  World w;
  w.look();
  w.observed.evicted = StartProblem{"Evicted", "too much. "};
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::ask_to_end, .container = "c"}}));
  EXPECT_EQ(w.status().phase, "Running");
  EXPECT_TRUE(w.holds("DisruptionTarget"));
  w.asked();
  w.now += seconds(1);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::kill, .container = "c"}}));
  w.exit(137);
  w.look();
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "Evicted");
  EXPECT_EQ(w.status().message, "too much. ");
}

TEST(PodSyncHealth, an_eviction_that_was_begun_is_ended_by_the_next_agent) {
  World w;
  w.look();
  w.observed.evicted = StartProblem{"Evicted", "too much. "};
  w.look();
  w.asked();
  w.observed.evicted.reset();  // it does not know yet
  w.exit(143);
  EXPECT_EQ(w.look().steps, (std::vector<Step>{{.kind = Kind::close_sandbox}}));
  EXPECT_EQ(w.status().phase, "Failed");
  EXPECT_EQ(w.status().reason, "Evicted");
  EXPECT_EQ(w.status().message, "too much. ");
}

TEST(PodSyncHealth, a_container_that_ate_its_memory_says_so) {
  World w("Never");
  w.look();
  w.last().reason = "OOMKilled";
  w.exit(137);
  w.look();
  EXPECT_EQ(w.main().state.terminated->reason, "OOMKilled");
  EXPECT_EQ(w.main().state.terminated->exit_code, 137);
  EXPECT_EQ(w.status().phase, "Failed");
}

}  // namespace
}  // namespace codeflare::node
