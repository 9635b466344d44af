#include "cli/simulate/simulate.h"

#include "base/env/sim_env.h"
#include "cli/testing/captured_console.h"
#include "json/parse.h"

#include <gtest/gtest.h>

namespace codeflare::cli::simulate {
namespace {

constexpr std::string_view kJobs =
    "id,submit,duration,gpu\n"
    "a,0,100,3\n"
    "b,1,50,4\n"
    "c,2,200,1\n"
    "d,3,10,1\n";

struct World {
  World() { EXPECT_TRUE(sim.env().files.write("jobs.csv", kJobs).has_value()); }
  int run(const SimulateFlags& flags) { return run_simulate(sim.env(), console, flags); }
  SimEnv sim;
  testing::CapturedConsole console;
};

TEST(Simulate, prints_a_line_for_each_policy) {
  World world;
  EXPECT_EQ(
      world.run(
          {.trace = "jobs.csv", .nodes = 1, .gpus = "4", .policies = "best-effort,fifo,backfill"}),
      kDone);
  EXPECT_EQ(world.console.out_text,
            "POLICY        JOBS   STARTED   MAKESPAN   WAIT MEAN   P50   P90     P99     MAX     "
            "SLOWDOWN   GPU\n"
            "best-effort   4      4         4m12s      74s         0s    3m21s   3m21s   3m21s   "
            "4.43       70.4%\n"
            "fifo          4      4         5m50s      98s         99s   2m28s   2m28s   2m28s   "
            "5.35       50.7%\n"
            "backfill      4      4         5m50s      61s         0s    2m28s   2m28s   2m28s   "
            "1.68       50.7%\n");
  EXPECT_EQ(world.console.err_text, "");
}

TEST(Simulate, prints_exact_numbers_as_json) {
  World world;
  EXPECT_EQ(world.run({.trace = "jobs.csv", .nodes = 1, .gpus = "4", .output = "json"}), kDone);
  const Result<json::Document> document = json::parse(world.console.out_text);
  ASSERT_TRUE(document.has_value());
  const json::Value& policy = document->root.find("policies")->items()[0];
  EXPECT_EQ(policy.find("makespanSeconds")->number(), "252.000");
  EXPECT_EQ(policy.get({"waitSeconds", "mean"})->number(), "74.500");
  EXPECT_EQ(policy.get({"utilisation", "nvidia.com/gpu"})->number(), "0.704365");
  EXPECT_EQ(document->root.get({"cluster", "capacity", "nvidia.com/gpu"})->as_string(), "4");
}

TEST(Simulate, tells_what_never_ran_below_the_table) {
  World world;
  ASSERT_TRUE(world.sim.env().files.write("big.csv", "submit,duration,gpu\n0,1,9\n").has_value());
  EXPECT_EQ(world.run({.trace = "big.csv", .nodes = 1, .gpus = "4"}), kDone);
  EXPECT_TRUE(world.console.out_text.contains("\nbest-effort: 1 never started: insufficient\n  "))
      << world.console.out_text;
}

TEST(Simulate, reads_standard_input_and_counts_what_it_skips) {
  World world;
  world.console.input = "submit,duration,gpu,colour\n0,5,1,red\n1,x,1,blue\n";
  EXPECT_EQ(world.run({.trace = "-", .nodes = 1, .gpus = "4", .skip_bad = true}), kDone);
  EXPECT_EQ(world.console.err_text,
            "skipped standard input:3: column duration: expected seconds, got \"x\"\n"
            "ignored columns: colour\n");
}

TEST(Simulate, tells_of_parts_of_jobs) {
  World world;
  world.console.input =
      "1 0 -1 30 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n"
      "1 0 -1 10 1 -1 -1 1 60 -1 2 1 1 1 1 1 -1 -1\n";
  EXPECT_EQ(world.run({.trace = "-", .format = "swf", .nodes = 1, .gpus = "4"}), kDone);
  EXPECT_EQ(
      world.console.err_text,
      "left out 1 lines about parts of jobs (status 2 to 4): the line of the whole job counts\n");
}

TEST(Simulate, a_cluster_file_replaces_the_flags) {
  World world;
  ASSERT_TRUE(world.sim.env()
                  .files.write("c.yaml", "nodes: [{count: 2, allocatable: {nvidia.com/gpu: 4}}]")
                  .has_value());
  EXPECT_EQ(world.run({.trace = "jobs.csv", .cluster = "c.yaml"}), kDone);
  EXPECT_TRUE(world.console.out_text.contains("3m22s")) << world.console.out_text;
}

TEST(Simulate, options_and_files_that_are_wrong_or_missing_are_usage_errors) {
  World world;
  EXPECT_EQ(world.run({.trace = "jobs.csv"}), kUsage);
  EXPECT_EQ(world.run({.trace = "jobs.csv", .nodes = 1, .cluster = "c.yaml"}), kUsage);
  EXPECT_EQ(world.run({.trace = "jobs.csv", .nodes = 1, .gpus = "4", .policies = "best"}), kUsage);
  EXPECT_EQ(world.run({.trace = "jobs.csv", .nodes = 1, .gpus = "-4"}), kUsage);
  EXPECT_EQ(world.run({.trace = "none.csv", .nodes = 1, .gpus = "4"}), kUsage);
  EXPECT_EQ(world.run({.trace = "jobs.csv", .cluster = "none.yaml"}), kUsage);
  EXPECT_EQ(world.run({.trace = "jobs.csv", .format = "swf", .nodes = 1, .gpus = "4"}), kUsage);
  EXPECT_TRUE(world.console.err_text.contains("jobs.csv:1: field 1")) << world.console.err_text;
  ASSERT_TRUE(world.sim.env().files.write("c.yaml", "nodes: 7").has_value());
  EXPECT_EQ(world.run({.trace = "jobs.csv", .cluster = "c.yaml"}), kUsage);
  world.console.err_text.clear();
  world.console.input = "id,submit,duration,gpu\na,0,5,1\na,1,5,1\n";
  EXPECT_EQ(world.run({.trace = "-", .nodes = 1, .gpus = "4"}), kUsage);
  EXPECT_EQ(
      world.console.err_text,
      "error: standard input:3: the id \"a\" is that of line 2 already: each job needs its own\n");
}

TEST(Simulate, shows_progress_on_a_terminal_alone_and_wipes_it) {
  World world;
  world.console.terminal = true;
  EXPECT_EQ(world.run({.trace = "jobs.csv", .nodes = 1, .gpus = "4"}), kDone);
  EXPECT_TRUE(world.console.err_text.starts_with("\rbest-effort: "));
  EXPECT_TRUE(world.console.err_text.ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace codeflare::cli::simulate
