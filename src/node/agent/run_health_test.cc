#include "node/agent/run_health.h"

#include <gtest/gtest.h>

namespace codeflare::node {
namespace {

using std::chrono::seconds;
using Kind = ProbeOutcome::Kind;

const Instant kBegan{seconds(1000)};

model::Probe probe(std::int32_t period = 0, std::int32_t failures = 0, std::int32_t successes = 0) {
  model::Probe one;
  one.tcp_socket.emplace().port = model::IntOrString::of(80);
  one.period_seconds = period;
  one.failure_threshold = failures;
  one.success_threshold = successes;
  return one;
}

// One run and the time; each probe is tried exactly when it is due.
struct World {
  model::Container container;
  std::optional<RunHealth> run;

  World() { container.name = "c"; }
  void begin(RunHealth::Before before = {}) { run.emplace(container, kBegan, before); }
  bool tries(ProbeKind kind, Kind outcome) {
    const std::optional<Instant> due = run->due(kind);
    EXPECT_TRUE(due);
    return due && run->took(kind, *due, {.kind = outcome});
  }
  Duration due(ProbeKind kind) { return *run->due(kind) - kBegan; }
};

TEST(RunHealth, without_probes_all_is_well_at_once) {
  World w;
  w.begin();
  EXPECT_TRUE(w.run->started());
  EXPECT_TRUE(w.run->ready());
  for (ProbeKind kind : kProbeKinds) {
    EXPECT_FALSE(w.run->due(kind));
  }
}

TEST(RunHealth, defaults_are_those_of_the_api) {
  const ProbeTimes times = times_of(probe());
  EXPECT_EQ(times.initial_delay, Duration::zero());
  EXPECT_EQ(times.period, Duration(seconds(10)));
  EXPECT_EQ(times.timeout, Duration(seconds(1)));
  EXPECT_EQ(times.successes, 1);
  EXPECT_EQ(times.failures, 3);
}

TEST(RunHealth, readiness_comes_with_successes_in_a_row_and_goes_with_failures_in_a_row) {
  World w;
  w.container.readiness_probe = probe(5, 2, 2);
  w.container.readiness_probe->initial_delay_seconds = 7;
  w.begin();
  EXPECT_FALSE(w.run->ready());
  EXPECT_EQ(w.due(ProbeKind::readiness), Duration(seconds(7)));
  EXPECT_FALSE(w.tries(ProbeKind::readiness, Kind::success));
  EXPECT_EQ(w.due(ProbeKind::readiness), Duration(seconds(12)));
  EXPECT_FALSE(w.tries(ProbeKind::readiness, Kind::failure));
  EXPECT_FALSE(w.tries(ProbeKind::readiness, Kind::success));
  EXPECT_TRUE(w.tries(ProbeKind::readiness, Kind::success));
  EXPECT_TRUE(w.run->ready());
  EXPECT_FALSE(w.tries(ProbeKind::readiness, Kind::failure));
  EXPECT_TRUE(w.run->ready());
  EXPECT_TRUE(w.tries(ProbeKind::readiness, Kind::failure));
  EXPECT_FALSE(w.run->ready());
  EXPECT_FALSE(w.run->doom());
}

TEST(RunHealth, a_lost_outcome_neither_counts_nor_breaks_a_row) {
  World w;
  w.container.liveness_probe = probe(1, 2);
  w.begin();
  EXPECT_FALSE(w.tries(ProbeKind::liveness, Kind::failure));
  EXPECT_FALSE(w.tries(ProbeKind::liveness, Kind::lost));
  EXPECT_TRUE(w.tries(ProbeKind::liveness, Kind::failure));
  EXPECT_TRUE(w.run->doom());
}

TEST(RunHealth, failed_liveness_dooms_the_run_with_the_probes_own_grace) {
  World w;
  w.container.liveness_probe = probe(1, 1);
  w.container.liveness_probe->termination_grace_period_seconds = 4;
  w.begin();
  EXPECT_FALSE(w.tries(ProbeKind::liveness, Kind::success));
  EXPECT_TRUE(w.tries(ProbeKind::liveness, Kind::failure));
  EXPECT_EQ(*w.run->doom(),
            (Doom{"Container c failed liveness probe, will be restarted", Duration(seconds(4))}));
  EXPECT_FALSE(w.run->due(ProbeKind::liveness));
}

TEST(RunHealth, nothing_else_is_probed_before_the_startup_probe_has_passed) {
  World w;
  w.container.startup_probe = probe(3, 5);
  w.container.readiness_probe = probe(10);
  w.container.liveness_probe = probe(10);
  w.begin();
  EXPECT_FALSE(w.run->started());
  EXPECT_FALSE(w.run->due(ProbeKind::readiness));
  EXPECT_FALSE(w.run->due(ProbeKind::liveness));
  EXPECT_FALSE(w.tries(ProbeKind::startup, Kind::failure));
  EXPECT_TRUE(w.tries(ProbeKind::startup, Kind::success));
  EXPECT_TRUE(w.run->started());
  EXPECT_FALSE(w.run->due(ProbeKind::startup));
  EXPECT_EQ(w.due(ProbeKind::readiness), Duration(seconds(3)));
  EXPECT_EQ(w.due(ProbeKind::liveness), Duration(seconds(3)));
}

TEST(RunHealth, a_startup_probe_that_never_passes_dooms_the_run) {
  World w;
  w.container.startup_probe = probe(1, 2);
  w.begin();
  EXPECT_FALSE(w.tries(ProbeKind::startup, Kind::failure));
  EXPECT_TRUE(w.tries(ProbeKind::startup, Kind::failure));
  EXPECT_EQ(w.run->doom()->message, "Container c failed startup probe, will be restarted");
  EXPECT_FALSE(w.run->due(ProbeKind::startup));
}

TEST(RunHealth, goes_on_from_what_an_earlier_agent_knew) {
  World w;
  w.container.startup_probe = probe();
  w.container.readiness_probe = probe();
  w.begin({.started = true, .ready = true});
  EXPECT_TRUE(w.run->ready());
  EXPECT_FALSE(w.run->due(ProbeKind::startup));
  EXPECT_TRUE(w.run->due(ProbeKind::readiness));
}

}  // namespace
}  // namespace codeflare::node
