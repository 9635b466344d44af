#include "tests/sim/sim_jobs_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace codeflare::sim {
namespace {

// Whether one of a few seeds complains in these words.
bool is_noticed(JobsBug bug, std::string_view words) {
  constexpr std::uint64_t kSeeds = 5;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Outcome outcome = run_jobs({.seed = seed}, {.bug = bug});
    if (std::ranges::any_of(outcome.violations, [&](const std::string& violation) {
          return violation.contains(words);
        })) {
      return true;
    }
  }
  return false;
}

TEST(SimJobs, a_second_job_is_noticed) {
  EXPECT_TRUE(is_noticed(JobsBug::second_job, "runs twice"));
}

TEST(SimJobs, a_lost_job_is_noticed) {
  EXPECT_TRUE(is_noticed(JobsBug::lost_job, "never ran"));
}

TEST(SimJobs, a_line_that_comes_twice_is_noticed) {
  EXPECT_TRUE(is_noticed(JobsBug::line_twice, "not the beginning of its log"));
}

TEST(SimJobs, a_line_that_is_lost_is_noticed) {
  EXPECT_TRUE(is_noticed(JobsBug::line_lost, "log"));
}

TEST(SimJobs, a_wrong_end_is_noticed) {
  EXPECT_TRUE(is_noticed(JobsBug::wrong_end, "was reported as Succeeded"));
}

// The command is typed once more after the death.
TEST(SimJobs, a_program_that_dies_at_any_request_leaves_one_job_with_its_log) {
  for (const Death::How how : {Death::How::before, Death::How::after, Death::How::late}) {
    std::uint64_t request = 1;
    for (bool died = true; died; ++request) {
      const Outcome outcome =
          run_jobs({.seed = request}, {.only = Death{.how = how, .request = request}});
      EXPECT_TRUE(outcome.violations.empty())
          << static_cast<int>(how) << " at " << request << ": " << outcome.violations.front();
      EXPECT_EQ(outcome.counts.at("accepted"), 1u);
      died = outcome.counts.at("died before") + outcome.counts.at("died after") +
                 outcome.counts.at("arrived late") >
             0;
    }
    // Token, lookup, package, upload, submission, token, tail, lookup, log.
    EXPECT_GE(request, 9u);
  }
}

}  // namespace
}  // namespace codeflare::sim
