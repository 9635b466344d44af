#include "runtime/testing/idempotence.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace codeflare::runtime::testing {
namespace {

// Notes that something was written.
struct Notes final : Actor {
  int writes = 0;

  Task<Result<void>> ready(ObjectKey /*key*/) override { co_return Result<void>(); }
  Task<Result<void>> act(ObjectKey /*key*/, Plan plan) override {
    writes += static_cast<int>(plan.actions.size());
    co_return Result<void>();
  }
};

// Wants one write, and observes it as the case demands.
class Subject final : public StoryReconciler<int, bool> {
 public:
  enum class Case : std::uint8_t { well, never_satisfied, not_there, goes };
  Subject(Env env, Notes& notes, Case which)
      : StoryReconciler(env, notes), notes_(notes), case_(which) {}

  std::optional<int> observe(const ObjectKey& /*key*/) const override {
    if (case_ == Case::not_there || (case_ == Case::goes && notes_.writes > 0)) {
      return std::nullopt;
    }
    return notes_.writes;
  }
  bool desired(const int& writes, WallTime /*now*/) const override {
    return writes == 0 || case_ == Case::never_satisfied;
  }
  Plan diff(const int& /*writes*/, const bool& write) const override {
    Plan plan;
    if (write) {
      plan.actions.push_back({.key = {"default", "a"}, .why = "it is not enough"});
    }
    return plan;
  }

 private:
  const Notes& notes_;
  Case case_;
};

std::string verdict(Subject::Case which) {
  SimEnv sim;
  Notes notes;
  Subject subject(sim.env(), notes, which);
  const ::testing::AssertionResult result = is_idempotent(sim.env(), subject, {"default", "a"});
  return result ? "good" : result.message();
}

TEST(Idempotence, a_controller_that_is_content_after_its_write_passes) {
  EXPECT_EQ(verdict(Subject::Case::well), "good");
}

TEST(Idempotence, a_controller_that_would_write_again_fails_with_the_reason) {
  EXPECT_TRUE(verdict(Subject::Case::never_satisfied).contains("it is not enough"));
}

TEST(Idempotence, a_key_under_which_nothing_is_observed_fails) {
  EXPECT_EQ(verdict(Subject::Case::not_there), "nothing is observed under default/a");
}

TEST(Idempotence, an_object_that_goes_with_the_reconcile_passes) {
  EXPECT_EQ(verdict(Subject::Case::goes), "good");
}

}  // namespace
}  // namespace codeflare::runtime::testing
