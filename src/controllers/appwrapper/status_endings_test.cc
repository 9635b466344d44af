#include "controllers/appwrapper/status_machine.h"
#include "controllers/appwrapper/testing/status_story.h"
#include "queue/status_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// How it goes: deleted, suspended, rejected or finished.
namespace codeflare::controllers {
namespace {

using namespace testing;  // NOLINT
using std::chrono::minutes;
using std::chrono::seconds;

TEST(StatusMachine, a_deleted_one_goes_when_all_it_held_is_gone) {
  Story s;
  s.dispatch();
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  s.settle();
  EXPECT_EQ(s.acts.back(), Act::take_back);
  EXPECT_EQ(s.tells, std::vector<Tell>{Tell::stopping});
  s.world.cleared = true;
  const Decision decision = s.look();
  EXPECT_EQ(decision.act, Act::release);
  EXPECT_EQ(decision.tell, Tell::forget);
}

TEST(StatusMachine, a_deleted_one_that_never_ran_goes_at_once) {
  Story s;
  s.waits(Reason::insufficient_resources);
  s.settle();
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  EXPECT_EQ(s.look().act, Act::release);
}

TEST(StatusMachine, what_does_not_go_is_forced_after_its_time) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing =
      model::Requeuing{.force_deletion_time_in_seconds = 30};
  s.dispatch();
  s.wrapper.spec.suspend = true;
  s.settle();
  EXPECT_FALSE(s.pass(seconds(29)).look().force);
  s.world.left = "waiting for pods to terminate";
  EXPECT_EQ(s.look().again, seconds(1));
  s.world.left.clear();
  EXPECT_TRUE(s.pass(seconds(1)).look().force);
}

TEST(StatusMachine, nothing_is_forced_before_it_was_asked) {
  Story s;
  s.dispatch();
  // Nobody was there to hear of the deletion for an hour.
  s.wrapper.metadata.deletion_timestamp = s.world.now;
  s.pass(minutes(60));
  Decision decision = s.look();
  EXPECT_EQ(decision.act, Act::take_back);
  EXPECT_FALSE(decision.force);
  s.carry_out(decision);
  EXPECT_FALSE(s.pass(seconds(59)).look().force);
  EXPECT_TRUE(s.pass(seconds(1)).look().force);
}

TEST(StatusMachine, what_does_not_go_without_grace_either_is_told_by_an_event) {
  Story s;
  s.dispatch();
  s.wrapper.spec.suspend = true;
  s.settle();
  s.world.left = "waiting for pod p0 to terminate";
  s.pass(minutes(11));
  EXPECT_TRUE(s.look().notes.empty());
  s.world.stuck = true;
  ASSERT_EQ(s.look().notes.size(), 1U);
  EXPECT_TRUE(s.look().notes[0].warning);
  EXPECT_EQ(s.look().notes[0].reason, Reason::stuck);
  EXPECT_TRUE(s.look().notes[0].message.contains("pod p0")) << s.look().notes[0].message;
}

TEST(StatusMachine, what_does_not_go_is_named_once) {
  Story s;
  s.dispatch();
  s.wrapper.spec.suspend = true;
  s.settle();
  s.world.left = "waiting for jobs.batch team/a to terminate";
  EXPECT_EQ(s.pass(seconds(40)).look().again, seconds(20));
  const std::size_t before = s.acts.size();
  s.pass(seconds(20)).settle();
  EXPECT_EQ(s.wrapper.status.message, s.world.left);
  EXPECT_EQ(s.pass(minutes(1)).settle().act, Act::none);
  EXPECT_EQ(s.acts.size(), before + 1);
  s.world.left.clear();
  s.world.abandoned = "jobs.batch team/a";
  s.clear();
  EXPECT_EQ(s.wrapper.status.message, "");
  EXPECT_FALSE(s.wrapper.status.plan);
  EXPECT_EQ(s.notes.back(), "Abandoned");
}

TEST(StatusMachine, an_item_over_a_resource_quota_frees_its_places_and_waits_longer_each_time) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.max_num_requeuings = 3};
  for (const int wait : {5, 10, 20}) {
    s.starts();
    s.carry_out(s.look());
    s.world.creation = Creation{Creation::Kind::quota, "exceeded quota: pods"};
    const WallTime refused = s.world.now;
    s.settle();
    EXPECT_FALSE(s.wrapper.status.can_run);
    s.clear();
    EXPECT_EQ(s.wrapper.status.state, "Pending");
    EXPECT_FALSE(s.wrapper.status.plan) << "others may have its places meanwhile";
    EXPECT_EQ(s.tells.back(), Tell::withdrawn);
    EXPECT_EQ(queue::not_before(s.wrapper.status), refused + seconds(wait));
    s.pass(seconds(wait));
  }
  EXPECT_EQ(s.wrapper.status.requeueing_time_in_seconds, 0)
      << "its health has nothing to do with it";
  s.starts();
  s.carry_out(s.look());
  s.world.creation = Creation{Creation::Kind::quota, "exceeded quota: pods"};
  s.settle();
  EXPECT_EQ(s.wrapper.status.state, "Deleted") << "it counts as a requeuing";
}

TEST(StatusMachine, items_that_cannot_be_created_do_not_hold_their_places_for_ever) {
  Story s;
  s.wrapper.spec.scheduling_spec->requeuing = model::Requeuing{.time_in_seconds = 60};
  s.starts();
  s.carry_out(s.look());
  s.world.creation = Creation{Creation::Kind::later, "failed calling webhook"};
  EXPECT_EQ(s.look().act, Act::retry);
  s.pass(seconds(59));
  EXPECT_EQ(s.look().act, Act::retry);
  s.pass(seconds(1)).settle();
  EXPECT_FALSE(s.wrapper.status.can_run);
  EXPECT_EQ(s.wrapper.status.number_of_requeueings, 1);
  s.clear();
  EXPECT_EQ(s.wrapper.status.state, "Pending");
  EXPECT_EQ(queue::not_before(s.wrapper.status), s.world.now + seconds(120));
}

TEST(StatusMachine, a_finished_one_expires_when_it_says_so) {
  Story s;
  s.dispatch();
  s.world.items[0].complete = true;
  s.settle();
  s.world.standing = {};
  EXPECT_FALSE(s.look().again);
  s.wrapper.spec.ttl_seconds_after_finished = 60;
  EXPECT_EQ(s.pass(seconds(20)).look().again, seconds(40));
  EXPECT_EQ(s.pass(seconds(40)).look().act, Act::expire);
}

}  // namespace
}  // namespace codeflare::controllers
