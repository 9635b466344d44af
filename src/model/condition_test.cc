#include "model/condition.h"

#include <gtest/gtest.h>

#include <chrono>

namespace codeflare::model {
namespace {

using namespace std::chrono_literals;

Time at(std::chrono::seconds seconds) {
  return Time(seconds);
}

Condition ready(std::string status, std::string reason = "Because") {
  Condition condition;
  condition.type = "Ready";
  condition.status = std::move(status);
  condition.reason = std::move(reason);
  return condition;
}

TEST(Condition, a_new_condition_gets_the_transition_time_now) {
  std::vector<Condition> conditions;
  EXPECT_TRUE(set_condition(conditions, ready("True"), at(5s)));
  ASSERT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].last_transition_time, at(5s));
  EXPECT_TRUE(is_condition_true(conditions, "Ready"));
  EXPECT_FALSE(is_condition_true(conditions, "Available"));
}

TEST(Condition, the_same_condition_again_is_no_change) {
  std::vector<Condition> conditions;
  EXPECT_TRUE(set_condition(conditions, ready("True"), at(5s)));
  const auto before = conditions;
  EXPECT_FALSE(set_condition(conditions, ready("True"), at(9s)));
  EXPECT_EQ(conditions, before);
}

TEST(Condition, a_new_reason_keeps_the_transition_time) {
  std::vector<Condition> conditions;
  EXPECT_TRUE(set_condition(conditions, ready("False", "Pulling"), at(5s)));
  EXPECT_TRUE(set_condition(conditions, ready("False", "Starting"), at(9s)));
  EXPECT_EQ(conditions[0].reason, "Starting");
  EXPECT_EQ(conditions[0].last_transition_time, at(5s));
}

TEST(Condition, a_new_status_moves_the_transition_time_to_the_given_one_or_now) {
  std::vector<Condition> conditions;
  EXPECT_TRUE(set_condition(conditions, ready("False"), at(5s)));
  EXPECT_TRUE(set_condition(conditions, ready("True"), at(9s)));
  EXPECT_EQ(conditions[0].last_transition_time, at(9s));
  Condition back = ready("Unknown");
  back.last_transition_time = at(7s);
  EXPECT_TRUE(set_condition(conditions, back, at(12s)));
  EXPECT_EQ(conditions[0].last_transition_time, at(7s));
}

TEST(Condition, what_is_not_given_is_left_as_it_was) {
  std::vector<Condition> conditions;
  Condition first = ready("True");
  first.observed_generation = 3;
  first.last_heartbeat_time = at(1s);
  first.extra.members.push_back({"note", {"1"}});
  EXPECT_TRUE(set_condition(conditions, first, at(5s)));
  EXPECT_FALSE(set_condition(conditions, ready("True"), at(6s)));
  EXPECT_EQ(conditions[0].observed_generation, 3);
  EXPECT_EQ(conditions[0].last_heartbeat_time, at(1s));
  EXPECT_EQ(conditions[0].extra.find("note"), "1");
}

TEST(Condition, remove_says_whether_it_was_there) {
  std::vector<Condition> conditions = {ready("True")};
  EXPECT_FALSE(remove_condition(conditions, "Other"));
  EXPECT_TRUE(remove_condition(conditions, "Ready"));
  EXPECT_TRUE(conditions.empty());
}

}  // namespace
}  // namespace codeflare::model
