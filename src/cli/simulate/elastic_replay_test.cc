#include "cli/simulate/elastic_replay.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::cli::simulate {
namespace {

// 100 iterations of 8 samples: 1 s on one pod, 0.5 s on two, 0.25 s on four, however placed.
Applications perfect() {
  Applications all;
  Application& app = all["app"];
  EXPECT_TRUE(
      app.read_placements("placement,local_bsz,step_time,sync_time\n"
                          "1,2,0.25,0\n1,4,0.5,0\n1,8,1,0\n"
                          "2,2,0.25,0\n2,4,0.5,0\n2,8,1,0\n"
                          "4,2,0.25,0\n4,4,0.5,0\n4,8,1,0\n",
                          "p"));
  EXPECT_TRUE(app.read_validation(8, "progress,iteration\n1,50\n2,100\n", "v"));
  return all;
}

Cluster gpus(std::int64_t nodes, const std::string& each) {
  return *make_cluster({.count = nodes, .cpus = {}, .memory = {}, .gpus = each});
}

ElasticPlay play(sched::ElasticPolicy rule) {
  return {.policy = "p", .rule = rule};
}

std::vector<Training> trace(const Applications& apps, const std::string& lines) {
  auto trainings =
      read_trainings("name,time,application,num_replicas,batch_size\n" + lines, "t", apps);
  EXPECT_TRUE(trainings) << trainings.error().message;
  return trainings ? *trainings : std::vector<Training>{};
}

double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

TEST(ElasticReplay, a_lone_training_uses_all_that_was_measured) {
  const Applications apps = perfect();
  const auto outcome = replay_elastic(trace(apps, "a,0,app,2,8\n"), gpus(1, "4"),
                                      play(sched::ElasticPolicy::throughput));
  ASSERT_EQ(outcome.finished, 1u);
  EXPECT_NEAR(seconds(outcome.completions.front()), 25, 0.01);
  EXPECT_EQ(outcome.resizes, 0u);
}

TEST(ElasticReplay, room_that_comes_free_is_used) {
  const Applications apps = perfect();
  // Both on two; the second starts 10 s later and goes on alone when the first has ended.
  const auto outcome = replay_elastic(trace(apps, "a,0,app,2,8\nb,10,app,2,8\n"), gpus(1, "4"),
                                      play(sched::ElasticPolicy::fair));
  ASSERT_EQ(outcome.finished, 2u);
  // a: 10 s on four (40 done), 30 s on two; b: 30 s on two (60 done), 10 s on four.
  EXPECT_NEAR(seconds(outcome.completions[0]), 40, 0.05);
  EXPECT_NEAR(seconds(outcome.completions[1]), 40, 0.05);
}

TEST(ElasticReplay, a_resize_costs_its_time) {
  const Applications apps = perfect();
  ElasticPlay costly = play(sched::ElasticPolicy::fair);
  costly.resize = std::chrono::seconds(5);
  const auto outcome = replay_elastic(trace(apps, "a,0,app,2,8\n"), gpus(1, "4"), costly);
  EXPECT_NEAR(seconds(outcome.completions.front()), 30, 0.01);
}

TEST(ElasticReplay, decisions_wait_for_their_interval) {
  const Applications apps = perfect();
  ElasticPlay slow = play(sched::ElasticPolicy::throughput);
  slow.interval = std::chrono::seconds(60);
  const auto outcome = replay_elastic(trace(apps, "a,30,app,2,8\n"), gpus(1, "4"), slow);
  EXPECT_NEAR(seconds(outcome.waits.front()), 30, 0.01);
  EXPECT_NEAR(seconds(outcome.completions.front()), 55, 0.01);
}

TEST(ElasticReplay, the_original_rule_keeps_to_half_and_all_of_the_request) {
  const Applications apps = perfect();
  ElasticPlay original = play(sched::ElasticPolicy::fair);
  original.rule.reset();
  const auto outcome = replay_elastic(trace(apps, "a,0,app,2,8\n"), gpus(1, "4"), original);
  EXPECT_NEAR(seconds(outcome.completions.front()), 50, 0.01);
}

TEST(ElasticReplay, the_same_input_gives_the_same_text) {
  const Applications apps = perfect();
  std::string lines;
  for (int i = 0; i < 20; ++i) {
    lines += "j" + std::to_string(i) + "," + std::to_string(7 * i) + ",app,2,8\n";
  }
  const auto once =
      replay_elastic(trace(apps, lines), gpus(2, "4"), play(sched::ElasticPolicy::throughput));
  const auto again =
      replay_elastic(trace(apps, lines), gpus(2, "4"), play(sched::ElasticPolicy::throughput));
  EXPECT_EQ(to_text({once}, gpus(2, "4")), to_text({again}, gpus(2, "4")));
  EXPECT_EQ(once.finished, 20u);
}

TEST(Speeds, accumulate_what_does_not_fit_at_once) {
  const Applications apps = perfect();
  const Application& app = apps.at("app");
  EXPECT_NEAR(app.iteration_seconds(1, 1, 16), 2, 1e-9);
  EXPECT_NEAR(app.iteration_seconds(1, 3, 8), 0.375, 1e-9);
  EXPECT_EQ(app.pods_max(8), 4);
}

TEST(ElasticTrace, errors_name_line_and_column) {
  const Applications apps = perfect();
  const std::string head = "name,time,application,num_replicas,batch_size\n";
  const auto message = [&](const std::string& text) {
    const auto read = read_trainings(text, "w.csv", apps);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(message("name,time\n"), "w.csv:1: no column application");
  EXPECT_EQ(message(head + "a,x,app,1,8\n"), "w.csv:2: time: expected seconds, got \"x\"");
  EXPECT_EQ(message(head + "a,1,other,1,8\n"),
            "w.csv:2: application \"other\" has no folder with speeds");
  EXPECT_EQ(message(head + "a,1,app,0,8\n"),
            "w.csv:2: num_replicas: expected a number from 1 on, got \"0\"");
  EXPECT_EQ(message(head + "a,1,app,1,9\n"),
            "w.csv:2: batch_size \"9\" was not measured: app/validation-9.csv is missing");
  EXPECT_EQ(message(head), "w.csv: holds no training");
}

}  // namespace
}  // namespace codeflare::cli::simulate
