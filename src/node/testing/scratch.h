#pragma once

#include "base/env/real_env.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::node::testing {

// The real world with a directory of its own, which goes with it.
class Scratch {
 public:
  Scratch() { EXPECT_TRUE(env.files.make_directories(directory_, 0700)); }
  ~Scratch() { EXPECT_TRUE(env.files.remove_all(directory_)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view name) const { return join_path(directory_, name); }

 private:
  RealEnv real_;

 public:
  Env env = real_.env();

 private:
  std::string directory_ = join_path(::testing::TempDir(), "codeflare-node-" + env.random.uuid());
};

}  // namespace codeflare::node::testing
