#include "controllers/trainingjob/training_plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace codeflare::controllers::trainingjob {
namespace {

std::string text(const model::TrainingPlan& plan) {
  std::string out;
  for (const model::TrainingPlace& place : plan.places) {
    out += std::to_string(place.index) + "@" + place.node + " ";
  }
  out += "|";
  for (const std::int64_t index : plan.leaving) {
    out += " " + std::to_string(index);
  }
  return out;
}

std::vector<model::PlannedPlace> on(
    std::initializer_list<std::pair<const char*, std::int64_t>> nodes) {
  std::vector<model::PlannedPlace> places;
  for (const auto& [node, count] : nodes) {
    places.push_back({.pod_set = 0, .node = node, .count = count});
  }
  return places;
}

WorkerPod pod(std::int64_t index, std::string node, bool ready, int age) {
  return {.name = "w",
          .uid = "u" + std::to_string(index),
          .index = index,
          .node = std::move(node),
          .phase = ready ? Phase::running : Phase::pending,
          .ready = ready,
          .created = WallTime(std::chrono::seconds(1'000 - age))};
}

TEST(NextPlan, numbers_new_places_from_the_smallest_free_number) {
  model::TrainingPlan plan = next_plan(std::nullopt, on({{"a", 2}, {"b", 1}}), {}, false);
  EXPECT_EQ(text(plan), "0@a 1@a 2@b |");
  EXPECT_EQ(plan.generation, 1);
  plan = next_plan(plan, on({{"a", 2}, {"b", 2}}), {}, false);
  EXPECT_EQ(text(plan), "0@a 1@a 2@b 3@b |");
  EXPECT_EQ(plan.generation, 2);
  EXPECT_EQ(next_plan(plan, on({{"a", 2}, {"b", 2}}), {}, false), plan) << "nothing changed";
}

TEST(NextPlan, victims_are_pending_then_not_ready_then_the_youngest) {
  const model::TrainingPlan before = next_plan(std::nullopt, on({{"a", 3}}), {}, false);
  EXPECT_EQ(
      text(next_plan(before, on({{"a", 2}}),
                     {pod(0, "a", true, 1), pod(1, "a", true, 9), pod(2, "a", true, 5)}, false)),
      "1@a 2@a | 0");
  EXPECT_EQ(
      text(next_plan(before, on({{"a", 2}}),
                     {pod(0, "a", true, 1), pod(1, "a", false, 9), pod(2, "a", true, 5)}, false)),
      "0@a 2@a | 1");
  EXPECT_EQ(
      text(next_plan(before, on({{"a", 2}}),
                     {pod(0, "a", true, 1), pod(1, "a", true, 9), pod(2, "", false, 5)}, false)),
      "0@a 1@a | 2");
  EXPECT_EQ(
      text(next_plan(before, on({{"a", 2}}),
                     {pod(0, "a", true, 1), pod(1, "a", true, 9), pod(2, "a", true, 5)}, true)),
      "0@a 1@a | 2")
      << "worker 0 hosts torchrun's rendezvous";
}

TEST(NextPlan, follows_pods_that_are_on_other_nodes_than_planned) {
  const model::TrainingPlan before = next_plan(std::nullopt, on({{"a", 1}, {"b", 1}}), {}, false);
  EXPECT_EQ(text(next_plan(before, on({{"a", 1}, {"b", 1}}),
                           {pod(0, "b", true, 1), pod(1, "a", true, 1)}, false)),
            "0@b 1@a |");
}

TEST(NextPlan, a_number_is_not_used_again_before_its_pod_is_gone) {
  model::TrainingPlan plan = next_plan(std::nullopt, on({{"a", 2}}), {}, false);
  const std::vector<WorkerPod> pods = {pod(0, "a", true, 9), pod(1, "a", true, 5)};
  plan = next_plan(plan, on({{"a", 1}}), pods, false);
  EXPECT_EQ(text(plan), "0@a | 1");
  EXPECT_EQ(text(next_plan(plan, on({{"a", 1}, {"b", 1}}), pods, false)), "0@a 2@b | 1");
  EXPECT_EQ(text(next_plan(plan, on({{"a", 1}}), {pods[0]}, false)), "0@a |");
}

std::vector<MemberFacts> ready(std::initializer_list<int> indexes) {
  std::vector<MemberFacts> members;
  for (const int index : indexes) {
    members.push_back({index, "u" + std::to_string(index), true});
  }
  return members;
}

TEST(NextMembership, says_why_it_changed_and_counts_generations) {
  EXPECT_FALSE(next_membership(std::nullopt, {}, Course::train)) << "nobody is ready";
  auto now = next_membership(std::nullopt, ready({0, 1}), Course::train);
  EXPECT_EQ(now->reason, "Start");
  EXPECT_EQ(now->generation, 1);
  EXPECT_EQ(next_membership(now, ready({0, 1}), Course::train), now);
  now = next_membership(now, ready({0, 1, 2}), Course::train);
  EXPECT_EQ(now->reason, "Grow");
  now = next_membership(now, ready({0, 2}), Course::train);
  EXPECT_EQ(now->reason, "Shrink");
  now = next_membership(now, {{0, "u0", true}, {2, "other", true}}, Course::train);
  EXPECT_EQ(now->reason, "Replace");
  EXPECT_EQ(now->generation, 4);
  now = next_membership(now, {}, Course::pause);
  EXPECT_EQ(now->reason, "Pause");
  EXPECT_TRUE(now->members.empty());
  now = next_membership(now, ready({0}), Course::train);
  EXPECT_EQ(now->reason, "Start");
  now = next_membership(now, {}, Course::finish);
  EXPECT_EQ(now->reason, "Finish");
  EXPECT_EQ(next_membership(now, {}, Course::finish), now);
}

}  // namespace
}  // namespace codeflare::controllers::trainingjob
