#include "kube/retry.h"

#include "base/env/sim_env.h"

#include <gtest/gtest.h>

namespace codeflare::kube {
namespace {

Task<Result<int>> fails_with_conflict(int* calls, int times) {
  if (++*calls <= times) {
    co_return fail(conflict("changed"));
  }
  co_return 7;
}

TEST(RetryOnConflict, repeats_until_the_write_goes_through) {
  SimEnv sim;
  int calls = 0;
  const Result<int> result = *run(
      sim.env().loop, retry_on_conflict(sim.env(), [&] { return fails_with_conflict(&calls, 4); }));
  EXPECT_EQ(result.value(), 7);
  EXPECT_EQ(calls, 5);
}

TEST(RetryOnConflict, gives_up_after_five_attempts_and_repeats_nothing_else) {
  SimEnv sim;
  int calls = 0;
  Result<int> result = *run(
      sim.env().loop, retry_on_conflict(sim.env(), [&] { return fails_with_conflict(&calls, 9); }));
  EXPECT_EQ(result.error().code, ErrorCode::conflict);
  EXPECT_EQ(calls, 5);

  calls = 0;
  auto broken = [&]() -> Task<Result<int>> {
    ++calls;
    co_return fail(unavailable("gone"));
  };
  result = *run(sim.env().loop, retry_on_conflict(sim.env(), broken));
  EXPECT_EQ(result.error().code, ErrorCode::unavailable);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace codeflare::kube
