#include "controllers/fakenode/pod_timeline.h"

#include <gtest/gtest.h>

namespace codeflare::controllers::fakenode {
namespace {

using namespace std::chrono_literals;
using Stage = Moment::Stage;

const WallTime kBound{std::chrono::seconds(1'700'000'000)};

model::Pod pod(std::string policy, model::StringMap annotations = {}) {
  model::Pod pod;
  pod.spec.restart_policy = std::move(policy);
  pod.metadata.annotations = std::move(annotations);
  return pod;
}

Moment at(const model::Pod& pod, Duration elapsed) {
  return moment_of(*script_of(pod), kBound, kBound + elapsed);
}

TEST(PodTimeline, work_ends_after_its_duration_or_a_second) {
  EXPECT_EQ(at(pod("Never"), 0s).stage, Stage::running);
  EXPECT_EQ(at(pod("Never"), 0s).change, kBound + 1s);
  EXPECT_EQ(at(pod("Never"), 1s).stage, Stage::ended);
  const model::Pod longer = pod("OnFailure", {{"codeflare.dev/duration", "90s"}});
  EXPECT_EQ(at(longer, 89s).stage, Stage::running);
  EXPECT_EQ(at(longer, 90s).ended, kBound + 90s);
}

TEST(PodTimeline, a_service_runs_for_ever) {
  EXPECT_EQ(at(pod("Always"), 100h).stage, Stage::running);
  EXPECT_FALSE(at(pod(""), 100h).change);
}

TEST(PodTimeline, a_start_may_take_its_time) {
  const model::Pod slow =
      pod("Never", {{"codeflare.dev/start-delay", "5s"}, {"codeflare.dev/duration", "2s"}});
  EXPECT_EQ(at(slow, 4s).stage, Stage::starting);
  EXPECT_EQ(at(slow, 4s).change, kBound + 5s);
  EXPECT_EQ(at(slow, 6s).began, kBound + 5s);
  EXPECT_EQ(at(slow, 7s).stage, Stage::ended);
}

TEST(PodTimeline, what_may_restart_backs_off_longer_each_time) {
  const model::Pod flaky =
      pod("OnFailure", {{"codeflare.dev/duration", "5s"}, {"codeflare.dev/exit-code", "1"}});
  EXPECT_EQ(at(flaky, 5s).stage, Stage::backing_off);
  EXPECT_EQ(at(flaky, 5s).change, kBound + 15s);
  EXPECT_EQ(at(flaky, 15s).stage, Stage::running);
  EXPECT_EQ(at(flaky, 15s).restarts, 1);
  EXPECT_EQ(at(flaky, 20s).change, kBound + 40s);
  EXPECT_EQ(at(flaky, 40s).restarts, 2);
}

TEST(PodTimeline, a_deadline_ends_it_in_any_case) {
  model::Pod hurried = pod("Always");
  hurried.spec.active_deadline_seconds = 10;
  EXPECT_EQ(at(hurried, 9s).change, kBound + 10s);
  EXPECT_EQ(at(hurried, 10s).stage, Stage::ended);
  EXPECT_TRUE(at(hurried, 10s).past_deadline);
}

TEST(PodTimeline, annotations_that_cannot_be_read_are_named) {
  const auto bad = script_of(pod("Never", {{"codeflare.dev/duration", "soon"}}));
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message.contains("codeflare.dev/duration")) << bad.error().message;
  EXPECT_FALSE(script_of(pod("Never", {{"codeflare.dev/exit-code", "256"}})));
  EXPECT_FALSE(script_of(pod("Never", {{"codeflare.dev/exit-code", "x"}})));
}

}  // namespace
}  // namespace codeflare::controllers::fakenode
