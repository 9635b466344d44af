#include "elastic/membership.h"

#include <gtest/gtest.h>

namespace codeflare::elastic {
namespace {

using std::chrono::seconds;

PodFacts pod(std::int32_t index, std::optional<MemberState> state, std::int64_t generation = 0) {
  PodFacts facts{.index = index, .uid = "u" + std::to_string(index)};
  if (state) {
    facts.member = Member{.generation = generation,
                          .state = *state,
                          .pod = facts.uid,
                          .agent = "a" + std::to_string(index)};
  }
  return facts;
}

MembershipFacts facts(std::int64_t generation, std::vector<std::int32_t> members,
                      std::vector<PodFacts> pods) {
  MembershipFacts all{.current = {.generation = generation}, .pods = std::move(pods)};
  std::vector<RoundRank> ranks;
  for (std::int32_t index : members) {
    all.current.members.push_back({.index = index, .pod = "u" + std::to_string(index)});
    ranks.push_back({.index = index, .agent = "a" + std::to_string(index)});
  }
  all.round = Round{.generation = generation, .ranks = std::move(ranks)};
  all.now = WallTime(seconds(1'700'000'000));
  all.current.not_after = to_rfc3339(all.now + seconds(60));
  return all;
}

// "Grow 0 1", or the message when nothing changes.
std::string next(const MembershipFacts& all) {
  const MembershipDecision decision = decide_membership(all);
  if (!decision.next) {
    return "-";
  }
  EXPECT_EQ(decision.next->generation, all.current.generation + 1);
  std::string text = decision.next->reason;
  for (const MemberRef& member : decision.next->members) {
    text += " " + std::to_string(member.index);
  }
  return text;
}

constexpr MemberState kRegistered = MemberState::registered;
constexpr MemberState kRunning = MemberState::running;

TEST(Membership, a_member_that_left_comes_back_only_when_it_has_registered) {
  MembershipFacts all = facts(3, {0}, {pod(0, kRunning, 3), pod(1, MemberState::left, 3)});
  EXPECT_EQ(next(all), "-");
  all.pods[1] = pod(1, MemberState::starting, 3);
  EXPECT_EQ(next(all), "-");
  all.pods[1] = pod(1, kRegistered);
  EXPECT_EQ(next(all), "Grow 0 1");
}

TEST(Membership, the_first_group_waits_for_all_pods_or_the_deadline) {
  MembershipFacts all = facts(0, {}, {pod(0, kRegistered), pod(1, std::nullopt)});
  all.growth_deadline = all.now + seconds(30);
  EXPECT_EQ(next(all), "-");
  all.pods[1] = pod(1, kRegistered);
  EXPECT_EQ(next(all), "Start 0 1");
  all.pods[1] = pod(1, std::nullopt);
  all.growth_deadline = all.now;
  EXPECT_EQ(next(all), "Start 0");
  all.size_min = 2;
  EXPECT_EQ(next(all), "-");
}

TEST(Membership, runners_are_interrupted_once_for_all_new_members) {
  MembershipFacts all =
      facts(4, {0}, {pod(0, kRunning, 4), pod(1, kRegistered), pod(2, MemberState::starting)});
  EXPECT_EQ(next(all), "-");
  all.pods[2] = pod(2, kRegistered);
  EXPECT_EQ(next(all), "Grow 0 1 2");
  EXPECT_EQ(decide_membership(all).counted, (RestartCounts{.scaling = 1}));
  all.pods[0] = pod(0, MemberState::ready, 4);  // the group has not begun
  EXPECT_EQ(next(all), "-");
}

TEST(Membership, survivors_go_on_at_once_and_take_along_who_has_registered) {
  MembershipFacts all =
      facts(4, {0, 1},
            {pod(0, kRunning, 4), pod(1, kRunning, 4), pod(2, kRegistered), pod(3, std::nullopt)});
  all.pods[1].lost = true;
  EXPECT_EQ(next(all), "Replace 0 2");
  EXPECT_EQ(decide_membership(all).counted, (RestartCounts{.infrastructure = 1}));
  all.size_min = 3;
  EXPECT_EQ(next(all), "Pause");
}

TEST(Membership, a_failed_member_stays_and_is_counted_by_its_class) {
  MembershipFacts all = facts(4, {0, 1}, {pod(0, kRunning, 4), pod(1, MemberState::failed, 4)});
  all.pods[1].member->exit_class = ExitClass::user;
  EXPECT_EQ(next(all), "Replace 0 1");
  EXPECT_EQ(decide_membership(all).counted, (RestartCounts{.user = 1}));
  all.pods[1].member->exit_class = ExitClass::out_of_memory;
  EXPECT_EQ(decide_membership(all).counted, (RestartCounts{.infrastructure = 1}));
  // A report about an older generation was counted already.
  all.current.generation = 5;
  all.pods[0] = pod(0, MemberState::ready, 5);
  EXPECT_EQ(next(all), "-");
}

TEST(Membership, a_shrink_comes_before_the_pod_goes) {
  MembershipFacts all =
      facts(4, {0, 1, 2}, {pod(0, kRunning, 4), pod(1, kRunning, 4), pod(2, kRunning, 4)});
  all.pods[1].leaving = true;
  EXPECT_EQ(next(all), "Shrink 0 2");
}

PodFacts holding(PodFacts facts, std::int64_t step) {
  facts.member->library = true;
  facts.member->step = step;
  return facts;
}

PodFacts leaving(PodFacts facts) {
  facts.leaving = true;
  return facts;
}

TEST(Membership, a_member_that_leaves_with_the_only_state_hands_it_over_first) {
  MembershipFacts all = facts(3, {1, 2},
                              {pod(0, kRegistered), leaving(holding(pod(1, kRunning, 3), 7)),
                               leaving(holding(pod(2, kRunning, 3), 6))});
  EXPECT_EQ(next(all), "Replace 0 1") << "one of them is enough";
  all = facts(4, {0, 1},
              {holding(pod(0, MemberState::ready, 4), 0),
               leaving(holding(pod(1, MemberState::ready, 4), 7))});
  EXPECT_EQ(next(all), "-") << "the new group has not begun";
  all.pods[0] = holding(pod(0, kRunning, 4), 0);
  all.pods[1] = leaving(holding(pod(1, kRunning, 4), 7));
  EXPECT_EQ(next(all), "-") << "it has joined the group and made no step";
  all.pods[0] = holding(pod(0, kRunning, 4), 8);
  EXPECT_EQ(next(all), "Shrink 0");
  all.pods[0] = holding(pod(0, kRunning, 4), 90);
  all.pods[1] = leaving(holding(pod(1, kRunning, 4), 95));
  all.now += seconds(61);
  EXPECT_EQ(next(all), "Shrink 0") << "reports may be a moment old";
}

TEST(Membership, a_group_that_nobody_forms_does_not_shrink_to_members_without_state) {
  MembershipFacts all = facts(5, {0, 1},
                              {holding(pod(0, MemberState::ready, 5), 0),
                               leaving(holding(pod(1, MemberState::ready, 5), 78))});
  all.now += seconds(61);
  EXPECT_EQ(next(all), "Replace 0 1");
  all.pods[0] = holding(pod(0, MemberState::ready, 5), 78);
  EXPECT_EQ(next(all), "Shrink 0") << "it has as much";
}

TEST(Membership, a_leaver_that_starts_anew_is_asked_for_its_steps_first) {
  MembershipFacts all = facts(
      5, {0, 1}, {holding(pod(0, kRunning, 5), 0), leaving(pod(1, MemberState::starting, 5))});
  all.round->library = true;
  EXPECT_EQ(next(all), "-");
  all.pods[0] = holding(pod(0, kRunning, 5), 4);
  EXPECT_EQ(next(all), "Shrink 0");
}

TEST(Membership, the_only_state_waits_for_a_successor_until_the_deadline) {
  MembershipFacts all =
      facts(3, {1}, {pod(0, std::nullopt), leaving(holding(pod(1, kRunning, 3), 7))});
  all.growth_deadline = all.now + seconds(45);
  EXPECT_EQ(next(all), "-");
  all.now += seconds(46);
  EXPECT_EQ(next(all), "Pause");
  // Nobody comes: the whole job goes.
  all = facts(3, {1}, {leaving(holding(pod(1, kRunning, 3), 7))});
  EXPECT_EQ(next(all), "Pause");
}

TEST(Membership, a_member_that_is_late_is_dropped) {
  MembershipFacts all =
      facts(4, {0, 1}, {pod(0, MemberState::ready, 4), pod(1, MemberState::stopping, 4)});
  EXPECT_EQ(next(all), "-");
  EXPECT_TRUE(decide_membership(all).look_again);
  all.now += seconds(61);
  EXPECT_EQ(next(all), "Replace 0");
}

TEST(Membership, a_group_that_nobody_forms_is_asked_for_once_more) {
  MembershipFacts all = facts(4, {0}, {pod(0, MemberState::ready, 4)});
  EXPECT_EQ(next(all), "-");
  all.now += seconds(61);
  EXPECT_EQ(next(all), "Replace 0");
}

TEST(Membership, a_group_that_is_out_of_reach_is_not_replaced_before_it_is_gone) {
  MembershipFacts all = facts(4, {0}, {pod(0, kRunning, 4), pod(1, kRegistered)});
  all.pods[0].lost = true;
  EXPECT_EQ(next(all), "-");
  all.pods[0].ended = true;
  EXPECT_EQ(next(all), "Replace 1");
  all.pods[0].ended = false;
  all.fenced = true;
  EXPECT_EQ(next(all), "Replace 1");
}

// Found by sim_training, seed 17: generation 5 was published and never formed.
TEST(Membership, a_member_that_never_trained_does_not_prove_that_the_last_group_is_over) {
  MembershipFacts all = facts(5, {0, 1}, {pod(0, MemberState::ready, 5), pod(1, kRunning, 4)});
  all.round = Round{.generation = 4, .ranks = {{.index = 1, .agent = "a1"}}};
  all.pods[1].lost = true;
  EXPECT_EQ(next(all), "-");
  all.pods[1].member->agent = "restarted";
  EXPECT_EQ(next(all), "Replace 0");
}

TEST(Membership, only_allowed_sizes_are_formed) {
  MembershipFacts all =
      facts(4, {0, 1}, {pod(0, kRunning, 4), pod(1, kRunning, 4), pod(2, kRegistered)});
  all.allowed = [](std::int32_t size) { return size >= 4 ? 4 : size >= 2 ? 2 : size; };
  EXPECT_EQ(next(all), "-");
  all.pods.push_back(pod(3, kRegistered));
  EXPECT_EQ(next(all), "Grow 0 1 2 3");
}

TEST(Membership, the_job_ends_when_every_member_is_done) {
  MembershipFacts all = facts(4, {0, 1}, {pod(0, MemberState::done, 4), pod(1, kRunning, 4)});
  EXPECT_EQ(next(all), "-");
  all.pods[1] = pod(1, MemberState::done, 4);
  EXPECT_EQ(next(all), "Finish");
  all.current.reason = std::string(reason::kFinish);
  all.pods[0].lost = true;
  EXPECT_EQ(next(all), "-");
}

TEST(Membership, training_that_completes_during_a_resize_ends_the_job) {
  MembershipFacts all =
      facts(5, {0, 1}, {pod(0, MemberState::done, 4), pod(1, MemberState::ready, 5)});
  all.pods[0].member->library = true;
  EXPECT_EQ(next(all), "Finish");
}

TEST(Membership, a_suspended_job_pauses_and_starts_again) {
  MembershipFacts all = facts(4, {0}, {pod(0, kRunning, 4)});
  all.suspended = true;
  EXPECT_EQ(next(all), "Pause");
  all = facts(5, {}, {pod(0, kRegistered, 5)});
  EXPECT_EQ(next(all), "Start 0");
}

TEST(LeaseJudge, goes_by_the_time_since_the_last_change) {
  LeaseJudge judge;
  const Instant start{seconds(100)};
  judge.see("a", "2030", start);
  judge.see("a", "2030", start + seconds(9));
  EXPECT_FALSE(judge.has_run_out("a", seconds(10), start + seconds(10)));
  EXPECT_TRUE(judge.has_run_out("a", seconds(10), start + seconds(11)));
  judge.see("a", "1999", start + seconds(11));
  EXPECT_FALSE(judge.has_run_out("a", seconds(10), start + seconds(12)));
  EXPECT_FALSE(judge.has_run_out("b", seconds(10), start));
}

}  // namespace
}  // namespace codeflare::elastic
