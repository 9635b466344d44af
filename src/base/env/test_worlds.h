#pragma once

#include "base/env/env.h"
#include "base/env/real_env.h"
#include "base/env/sim_env.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace codeflare {

enum class WorldKind : std::uint8_t { real, simulated };

// The same test body on the real world and on a simulated one, with an empty directory for files:
//   TEST_P(SleepTest, ends_in_order_of_time) { ... run(env().loop, ...) ... }
class BothWorlds : public testing::TestWithParam<WorldKind> {
 public:
  BothWorlds();
  ~BothWorlds() override;

  Env env() { return sim_ ? sim_->env() : real_->env(); }
  bool simulated() const { return sim_ != nullptr; }
  SimEnv& sim() { return *sim_; }
  RealEnv& real() { return *real_; }
  // A path in this test's own directory.
  std::string path(std::string_view name) const { return join_path(directory_, name); }

 private:
  std::unique_ptr<RealEnv> real_;
  std::unique_ptr<SimEnv> sim_;
  std::string directory_;
};

std::string world_name(const testing::TestParamInfo<WorldKind>& info);

}  // namespace codeflare

#define INSTANTIATE_BOTH_WORLDS(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(World, suite, testing::Values(WorldKind::real, WorldKind::simulated), \
                           world_name)
