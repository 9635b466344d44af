#include "cli/simulate/replay.h"

#include "base/check.h"
#include "cli/simulate/report.h"
#include "sched/decision.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace codeflare::cli::simulate {
namespace {

using std::chrono::seconds;

// One node of four GPUs; b needs all of it.
constexpr std::string_view kJobs =
    "id,submit,duration,gpu,priority\n"
    "a,0,100,3,0\n"
    "b,1,50,4,0\n"
    "c,2,200,1,0\n"
    "d,3,10,1,0\n";

Trace trace_of(std::string_view csv) {
  Result<Trace> trace = read_csv(csv, {});
  CHECK(trace.has_value(), "a test's trace");
  return *std::move(trace);
}

Cluster gpus(std::int64_t nodes, const std::string& each) {
  Result<Cluster> cluster = make_cluster({.count = nodes, .gpus = each});
  CHECK(cluster.has_value(), "a test's cluster");
  return *std::move(cluster);
}

Outcome run(std::string_view csv, const Cluster& cluster, std::string_view policy,
            Duration holding = {}) {
  const Result<Policy> parsed = parse_policy(policy, holding);
  CHECK(parsed.has_value(), "a test's policy");
  return replay(trace_of(csv), cluster, *parsed);
}

std::vector<std::int64_t> waits(const Outcome& outcome) {
  std::vector<std::int64_t> all;
  for (const Duration wait : outcome.waits) {
    all.push_back(wait / seconds(1));
  }
  return all;
}

TEST(Replay, best_effort_lets_whoever_fits_pass) {
  const Outcome outcome = run(kJobs, gpus(1, "4"), "best-effort");
  EXPECT_EQ(waits(outcome), (std::vector<std::int64_t>{0, 0, 97, 201}));
  EXPECT_EQ(outcome.makespan, seconds(252));
  EXPECT_EQ(outcome.finished, 4u);
  EXPECT_EQ(outcome.held.at(kGpuResource), 300 + 200 + 200 + 10);
}

TEST(Replay, fifo_keeps_the_place_of_the_first_in_line) {
  const Outcome outcome = run(kJobs, gpus(1, "4"), "fifo");
  EXPECT_EQ(waits(outcome), (std::vector<std::int64_t>{0, 99, 147, 148}));
  EXPECT_EQ(outcome.makespan, seconds(350));
}

TEST(Replay, backfill_lets_pass_only_what_is_gone_in_time) {
  const Outcome outcome = run(kJobs, gpus(1, "4"), "backfill");
  EXPECT_EQ(waits(outcome), (std::vector<std::int64_t>{0, 0, 99, 148}));
  EXPECT_EQ(outcome.makespan, seconds(350));
}

TEST(Replay, a_place_is_held_no_longer_than_the_holding_time) {
  // At 21 b has waited its 20 s, and c may pass.
  const Outcome outcome = run(kJobs, gpus(1, "4"), "fifo", seconds(20));
  EXPECT_EQ(waits(outcome).at(1), 19);
}

TEST(Replay, priorities_count_only_where_the_policy_says_so) {
  constexpr std::string_view kTwo =
      "id,submit,duration,gpu,priority\na,0,10,4,0\nb,1,10,4,0\nc,2,10,4,9\n";
  EXPECT_EQ(waits(run(kTwo, gpus(1, "4"), "best-effort")), (std::vector<std::int64_t>{0, 9, 18}));
  EXPECT_EQ(waits(run(kTwo, gpus(1, "4"), "priority")), (std::vector<std::int64_t>{0, 8, 19}));
}

TEST(Replay, an_evicted_job_begins_anew_and_what_it_did_is_lost) {
  const Outcome outcome = run("id,submit,duration,gpu,priority\na,0,100,4,0\nb,40,10,4,9\n",
                              gpus(1, "4"), "preemption");
  EXPECT_EQ(outcome.evictions, 1u);
  EXPECT_EQ(outcome.finished, 2u);
  EXPECT_EQ(outcome.makespan, seconds(40 + 10 + 100));
  EXPECT_EQ(outcome.lost.at(kGpuResource), 40 * 4);
  EXPECT_EQ(outcome.held.at(kGpuResource), 40 * 4 + 10 * 4 + 100 * 4);
}

TEST(Replay, a_limit_kills_and_counts_dispatched_time_only) {
  const Outcome outcome =
      run("id,submit,duration,gpu,limit\na,0,100,4,30\nb,0,20,4,30\n", gpus(1, "4"), "best-effort");
  EXPECT_EQ(outcome.killed, 1u);
  EXPECT_EQ(outcome.finished, 1u);
  EXPECT_EQ(outcome.makespan, seconds(50));
}

TEST(Replay, what_never_fits_is_told_with_the_reason) {
  const Outcome outcome = run("submit,duration,gpu\n0,5,8\n0,5,4\n", gpus(2, "4"), "best-effort");
  ASSERT_EQ(outcome.never_started.size(), 1u);
  EXPECT_EQ(outcome.never_started.at("fragmented").jobs, 1u);
  EXPECT_EQ(outcome.finished, 1u);
}

TEST(Replay, names_the_first_three_that_never_start_for_each_reason) {
  std::string csv = "id,submit,duration,gpu\n";
  for (const char* id : {"p", "q", "r", "s", "t"}) {
    csv += std::string(id) + ",0,5,9\n";
  }
  const Outcome outcome = run(csv + "whole,0,5,7\n", gpus(2, "4"), "best-effort");
  const NeverStarted& lacking = outcome.never_started.at("insufficient");
  EXPECT_EQ(lacking.jobs, 5u);
  ASSERT_EQ(lacking.first.size(), 3u);
  EXPECT_EQ(lacking.first[0],
            "p: insufficient nvidia.com/gpu: needs 9, 8 of 8 free; does not fit even on an empty "
            "cluster");
  EXPECT_TRUE(lacking.first[2].starts_with("r: ")) << lacking.first[2];
  EXPECT_TRUE(outcome.never_started.at("fragmented").first[0].starts_with("whole: fragmented: "));
  const std::string text = to_text({summarize(outcome, gpus(2, "4"))});
  EXPECT_TRUE(text.contains("\nbest-effort: 5 never started: insufficient\n  p: ")) << text;
  EXPECT_TRUE(text.ends_with("\n  and 2 more\n")) << text;
}

TEST(Replay, quota_of_the_cluster_file_is_charged_by_the_quota_column) {
  Cluster cluster = gpus(1, "8");
  cluster.quota = {{.name = "a", .limits = {{kGpuResource, 4}}, .hard = true}};
  const Outcome outcome =
      run("submit,duration,gpu,quota\n0,10,4,a\n0,10,4,a\n0,10,1,b\n", cluster, "best-effort");
  EXPECT_EQ(waits(outcome), (std::vector<std::int64_t>{0, 10}));
  EXPECT_EQ(outcome.never_started.size(), 1u);
  EXPECT_EQ(outcome.never_started.begin()->first, sched::to_string(sched::Reason::unknown_quota));
}

TEST(Replay, jobs_of_one_moment_start_in_the_order_of_the_file) {
  std::string csv = "id,submit,duration,gpu\n";
  for (int i = 0; i < 12; ++i) {
    csv += std::to_string(i) + ",0," + std::to_string(i + 1) + ",4\n";
  }
  const Outcome outcome = run(csv, gpus(1, "4"), "fifo");
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 12; ++i) {
    expected.push_back(i * (i + 1) / 2);
  }
  EXPECT_EQ(waits(outcome), expected);
}

TEST(Replay, a_whole_job_is_split_over_as_few_nodes_as_can_hold_it) {
  Job job{.id = "x", .gpu = 11};
  const sched::GangSpec gang = gang_of(job, gpus(4, "8"), {});
  ASSERT_EQ(gang.pod_sets.size(), 2u);
  EXPECT_EQ(gang.pod_sets[0].count, 1);
  EXPECT_EQ(gang.pod_sets[0].requests, (sched::Resources{{kGpuResource, 6}}));
  EXPECT_EQ(gang.pod_sets[1].requests, (sched::Resources{{kGpuResource, 5}}));
}

TEST(Replay, endless_time_ends_the_replay_instead_of_overflowing) {
  std::string csv = "submit,duration,gpu\n";
  for (int i = 0; i < 4; ++i) {
    csv += "0,7e9,4\n";
  }
  const Outcome outcome = run(csv, gpus(1, "4"), "best-effort");
  EXPECT_TRUE(outcome.cut_short);
}

TEST(Replay, the_same_trace_gives_the_same_outcome) {
  std::string csv = "submit,duration,gpu,pods,priority\n";
  std::uint32_t dice = 7;
  const auto below = [&](std::uint32_t bound) {
    dice = dice * 1664525 + 1013904223;
    return std::to_string((dice >> 8) % bound);
  };
  for (int i = 0; i < 400; ++i) {
    csv += below(500) + "," + below(60) + "," + std::to_string(1 + i % 4) + "," +
           std::to_string(1 + i % 3) + "," + below(3) + "\n";
  }
  const Cluster cluster = gpus(5, "8");
  for (const char* policy : {"best-effort", "fifo", "backfill+priority", "preemption"}) {
    const auto text = [&] {
      return to_json({summarize(run(csv, cluster, policy), cluster)}, trace_of(csv), cluster);
    };
    EXPECT_EQ(text(), text()) << policy;
    const Outcome outcome = run(csv, cluster, policy);
    EXPECT_EQ(outcome.finished, 400u) << policy;
  }
}

TEST(Policy, names_can_be_joined_and_unknown_ones_are_refused) {
  const Result<std::vector<Policy>> policies = parse_policies("fifo,backfill+preemption", {});
  ASSERT_TRUE(policies.has_value());
  EXPECT_FALSE((*policies)[0].backfill);
  EXPECT_GT((*policies)[0].holding, Duration::zero());
  EXPECT_TRUE((*policies)[1].backfill && (*policies)[1].preemption && (*policies)[1].priority);
  EXPECT_EQ(parse_policies("lifo", {}).error().message,
            "policy \"lifo\": expected best-effort, fifo, backfill, priority or preemption, or "
            "several joined by \"+\"");
  EXPECT_FALSE(parse_policies("fifo,", {}).has_value());
}

}  // namespace
}  // namespace codeflare::cli::simulate
