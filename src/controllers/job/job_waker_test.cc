#include "controllers/job/job_waker.h"

#include "base/async/sleep.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <vector>

namespace codeflare::controllers::job {
namespace {

using std::chrono::milliseconds;

struct World {
  SimEnv sim;
  std::vector<std::string> woken;
  JobWaker waker{sim.env().loop,
                 [this](const model::ObjectKey& job) { woken.push_back(job.name); }};

  void pass(Duration time) { ASSERT_TRUE(run(sim.env().loop, sleep_for(time))); }
};

TEST(JobWaker, a_small_job_is_looked_at_at_once) {
  World w;
  w.waker.pod_changed({"default", "small"}, 3);
  EXPECT_EQ(w.woken.size(), 1u);
}

TEST(JobWaker, many_changes_of_a_large_job_are_one_look) {
  World w;
  for (int i = 0; i < 1000; ++i) {
    w.waker.pod_changed({"default", "large"}, 10'000);
  }
  EXPECT_TRUE(w.woken.empty());
  w.pass(milliseconds(150));
  EXPECT_EQ(w.woken.size(), 1u);
  w.waker.pod_changed({"default", "large"}, 10'000);
  w.pass(milliseconds(150));
  EXPECT_EQ(w.woken.size(), 2u);
}

TEST(JobWaker, nobody_is_woken_after_its_end) {
  SimEnv sim;
  int woken = 0;
  {
    JobWaker waker(sim.env().loop, [&](const model::ObjectKey&) { ++woken; });
    waker.pod_changed({"default", "large"}, 10'000);
  }
  ASSERT_TRUE(run(sim.env().loop, sleep_for(milliseconds(500))));
  EXPECT_EQ(woken, 0);
}

}  // namespace
}  // namespace codeflare::controllers::job
