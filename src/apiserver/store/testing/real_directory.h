#pragma once

#include "base/env/real_env.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace codeflare::apiserver {

// An empty directory of a test's own on the real file system.
class RealDirectory {
 public:
  RealDirectory() : path_(join_path(testing::TempDir(), "codeflare-" + real_.env().random.uuid())) {
    EXPECT_TRUE(files().make_directories(path_));
  }
  ~RealDirectory() { EXPECT_TRUE(files().remove_all(path_)); }
  RealDirectory(const RealDirectory&) = delete;
  RealDirectory& operator=(const RealDirectory&) = delete;

  Env env() { return real_.env(); }
  FileSystem& files() { return real_.env().files; }
  std::string path(std::string_view name) const { return join_path(path_, name); }

 private:
  RealEnv real_;
  std::string path_;
};

}  // namespace codeflare::apiserver
