#include "base/env/internal/real_remove_tree.h"

#include "base/env/real_env.h"
#include "base/posix.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace codeflare::internal {
namespace {

constexpr uid_t kNobody = 65534;

// A directory of nobody's, so that modes count also when we are root.
class RemoveTree : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(env.files.make_directories(path, 0777));
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
      ASSERT_EQ(::seteuid(kNobody), 0);
      // Else /proc/self stays root's.
      ASSERT_EQ(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
      changed = true;
    }
  }
  void TearDown() override {
    if (changed) {
      ASSERT_EQ(::seteuid(0), 0);
    }
    EXPECT_TRUE(env.files.remove_all(path));
  }
  std::string below(const std::string& name) const { return path + "/" + name; }

  RealEnv world;
  Env env = world.env();
  std::string path = join_path(::testing::TempDir(), "codeflare-remove-" + env.random.uuid());
  bool changed = false;
};

TEST_F(RemoveTree, takes_directories_along_that_nobody_may_enter) {
  ASSERT_TRUE(env.files.make_directories(below("a/closed/inner"), 0755));
  ASSERT_TRUE(env.files.write(below("a/closed/inner/f"), "x"));
  ASSERT_TRUE(env.files.make_directories(below("a/fixed"), 0755));
  ASSERT_TRUE(env.files.write(below("a/fixed/f"), "x"));
  ASSERT_EQ(::chmod(below("a/closed/inner").c_str(), 0), 0);
  ASSERT_EQ(::chmod(below("a/closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(below("a/fixed").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(below("a").c_str(), 0), 0);
  const Result<bool> removed = remove_tree(below("a"));
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_TRUE(*removed);
  EXPECT_FALSE(env.files.exists(below("a")));
}

TEST_F(RemoveTree, needs_few_descriptors_however_deep_it_is) {
  FileDescriptor at(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    const FileDescriptor file(::openat(at.get(), "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    ASSERT_TRUE(file);
    at = FileDescriptor(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at);
  }
  at.close();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Result<bool> removed = remove_tree(below("d"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(removed) << removed.error().to_string();
  EXPECT_FALSE(env.files.exists(below("d")));
}

TEST_F(RemoveTree, leaves_alone_what_links_lead_to) {
  ASSERT_TRUE(env.files.make_directories(below("kept/inner"), 0755));
  ASSERT_TRUE(env.files.make_directories(below("a"), 0755));
  ASSERT_EQ(::symlink("../kept", below("a/link").c_str()), 0);
  ASSERT_EQ(::symlink("kept", below("top").c_str()), 0);
  EXPECT_TRUE(*remove_tree(below("a")));
  EXPECT_TRUE(*remove_tree(below("top")));
  EXPECT_TRUE(env.files.exists(below("kept/inner")));
}

TEST_F(RemoveTree, may_be_done_by_several_at_once) {
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 200; ++i) {
      const std::string inner = below("a/" + std::to_string(i) + "/b/c");
      ASSERT_TRUE(env.files.make_directories(inner, 0755));
      ASSERT_TRUE(env.files.create(inner + "/f"));
    }
    Result<bool> other = false;
    std::thread thread([&] { other = remove_tree(below("a")); });
    const Result<bool> removed = remove_tree(below("a"));
    thread.join();
    ASSERT_TRUE(removed) << removed.error().to_string();
    ASSERT_TRUE(other) << other.error().to_string();
    ASSERT_FALSE(env.files.exists(below("a")));
  }
}

TEST_F(RemoveTree, says_what_it_found) {
  EXPECT_FALSE(*remove_tree(below("missing")));
  ASSERT_TRUE(env.files.write(below("f"), "x"));
  EXPECT_TRUE(*remove_tree(below("f")));
  ASSERT_TRUE(env.files.make_directories(below("many"), 0755));
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(env.files.create(below("many/" + std::to_string(i))));
  }
  EXPECT_TRUE(*remove_tree(below("many")));
}

}  // namespace
}  // namespace codeflare::internal
