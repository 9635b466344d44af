#include "base/env/test_worlds.h"

namespace codeflare {

BothWorlds::BothWorlds() {
  if (GetParam() == WorldKind::simulated) {
    sim_ = std::make_unique<SimEnv>();
    directory_ = "/test";
  } else {
    real_ = std::make_unique<RealEnv>();
    directory_ = join_path(testing::TempDir(), "codeflare-" + real_->env().random.uuid());
  }
  EXPECT_TRUE(env().files.make_directories(directory_));
}

BothWorlds::~BothWorlds() {
  EXPECT_TRUE(env().files.remove_all(directory_));
}

std::string world_name(const testing::TestParamInfo<WorldKind>& info) {
  return info.param == WorldKind::real ? "real" : "simulated";
}

}  // namespace codeflare
