#include "node/keeper/internal/real_sandbox.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <grp.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare::node::internal {
namespace {

long find_key() {
  return ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user",
                   "codeflare-test-key", 0);
}

// In a child: 0 when all is as it should be, else which step was wrong; 100: there are no keys
// here.
int let_go_with_keys_and_groups() {
  if (::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr) < 0 ||
      ::syscall(SYS_add_key, "user", "codeflare-test-key", "hush", 4, KEY_SPEC_SESSION_KEYRING) <
          0) {
    return 100;
  }
  const std::array<gid_t, 2> groups = {4242, 4243};
  if (find_key() < 0 || (::geteuid() == 0 && ::setgroups(groups.size(), groups.data()) != 0)) {
    return 1;
  }
  if (!let_go_of_keys_and_groups()) {
    return 2;
  }
  if (find_key() >= 0 || errno != ENOKEY) {
    return 3;
  }
  return ::geteuid() == 0 && ::getgroups(0, nullptr) != 0 ? 4 : 0;
}

TEST(Sandbox, begins_without_the_keys_and_groups_of_whoever_starts_it) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(let_go_with_keys_and_groups());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 100) {
    GTEST_SKIP() << "this kernel keeps no keys";
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace codeflare::node::internal
