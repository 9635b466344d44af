#include "controllers/appwrapper/testing/queue_world.h"

#include <gtest/gtest.h>

#include <string>

// A person, or a time server, sets the clock by hours while AppWrappers run.
namespace codeflare::controllers::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kAnHour =
    R"("schedulingSpec":{"dispatchDuration":{"limit":3600},"minAvailable":1,
       "requeuing":{"timeInSeconds":300}},)";

struct Jumps : QueueWorld {
  Jumps() {
    add_node("n1", "4");
    start();
  }
  // Runs on its node, with the limits above.
  void run_one() {
    create("a", job_item("a"), kAnHour);
    settle();
    run_pod("a", "p0", "n1");
    settle(seconds(6));
    ASSERT_EQ(status("a").state, "Running");
    job_ = std::string(get(kJobs, "a")->uid());
  }
  bool still_runs() {
    const kube::ObjectRef job = get(kJobs, "a");
    return status("a").state == "Running" && status("a").number_of_requeueings == 0 &&
           job != nullptr && job->uid() == job_ && !job->deleting();
  }

 private:
  std::string job_;
};

TEST(AppWrapperClock, a_clock_that_is_set_back_ends_no_work_before_its_limit) {
  Jumps w;
  w.run_one();
  w.settle(minutes(10));
  w.clock.jump(-hours(5));
  w.settle(minutes(45));
  EXPECT_TRUE(w.still_runs());
  EXPECT_EQ(w.status("a").consumed_seconds, 0);
  // Set right again, the limit holds.
  w.clock.jump(hours(5));
  w.settle(minutes(3));
  EXPECT_TRUE(w.still_runs());
  w.settle(hours(6));
  EXPECT_EQ(w.status("a").state, "Failed");
  EXPECT_TRUE(w.message("a", "Failed").contains("Dispatch deadline exceeded"))
      << w.message("a", "Failed");
}

TEST(AppWrapperClock, a_limit_that_passed_in_a_jump_is_not_repeated_when_the_clock_is_set_right) {
  Jumps w;
  w.run_one();
  w.clock.jump(hours(5));
  w.settle(hours(2));
  ASSERT_EQ(w.status("a").state, "Failed");
  const std::string history = w.history("a");
  w.clock.jump(-hours(5));
  w.settle(hours(12));
  EXPECT_EQ(w.status("a").state, "Failed");
  EXPECT_EQ(w.history("a"), history);
}

TEST(AppWrapperClock, one_without_enough_pods_is_requeued_once_per_wait_whatever_the_clock_says) {
  Jumps w;
  w.run_one();
  w.clock.jump(-hours(5));
  w.set_phase("p0", "Failed");
  w.settle(minutes(4));
  EXPECT_EQ(w.status("a").number_of_requeueings, 0) << "its wait has not passed";
  w.clock.jump(hours(10));
  w.settle(minutes(8));
  EXPECT_LE(w.status("a").number_of_requeueings, 1);
  w.clock.jump(-hours(5));
  w.settle(minutes(8));
  EXPECT_LE(w.status("a").number_of_requeueings, 2) << "the wait grows with each";
}

TEST(AppWrapperClock, the_end_of_work_is_seen_soon_after_the_clock_was_set_back) {
  Jumps w;
  w.run_one();
  w.complete("a");  // its pod still runs
  w.settle(std::chrono::milliseconds(300));
  ASSERT_EQ(w.status("a").state, "Running");
  w.clock.jump(-hours(5));
  w.settle(minutes(2));
  EXPECT_EQ(w.status("a").state, "RunningHoldCompletion");
  w.set_phase("p0", "Succeeded");
  w.settle(seconds(30));
  EXPECT_EQ(w.status("a").state, "Completed");
}

TEST(AppWrapperClock, a_finished_one_does_not_expire_early_when_the_clock_is_set_back) {
  Jumps w;
  w.create("a", job_item("a"), R"("ttlSecondsAfterFinished":3600,)");
  w.settle();
  w.run_pod("a", "p0", "n1", "Succeeded");
  w.complete("a");
  w.settle(seconds(30));
  ASSERT_EQ(w.status("a").state, "Completed");
  w.clock.jump(-hours(5));
  w.settle(minutes(58));
  EXPECT_NE(w.get(kAppWrappers, "a"), nullptr);
  w.clock.jump(hours(5));
  w.settle(hours(6));
  EXPECT_EQ(w.get(kAppWrappers, "a"), nullptr);
}

}  // namespace
}  // namespace codeflare::controllers::testing
