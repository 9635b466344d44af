#include "node/keeper/internal/real_system_calls.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace codeflare::node::internal {
namespace {

// The errno of a call that a program of a container makes, 0 when it succeeds, -1 when the program
// was killed for it.
int answer_to(const std::function<long()>& call) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!forbid_system_calls()) {
      ::_exit(255);
    }
    ::_exit(call() < 0 ? errno : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

TEST(SystemCalls, make_no_namespaces) {
  for (const int kind : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWCGROUP, 0x80}) {
    EXPECT_EQ(answer_to([=] { return ::unshare(kind); }), EPERM) << std::hex << kind;
  }
  EXPECT_EQ(answer_to([] { return ::unshare(CLONE_NEWUSER | CLONE_FS); }), EPERM);
  EXPECT_EQ(answer_to([] { return ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }),
            EPERM);
  EXPECT_EQ(answer_to([] { return ::syscall(SYS_clone3, nullptr, 0); }), ENOSYS);
  EXPECT_EQ(answer_to([] {
              const int own = ::open("/proc/self/ns/uts", O_RDONLY);
              return ::setns(own, 0);
            }),
            EPERM);
}

TEST(SystemCalls, mount_nothing_and_see_no_keys) {
  EXPECT_EQ(answer_to([] { return ::mount("x", "/nowhere", "tmpfs", 0, nullptr); }), EPERM);
  EXPECT_EQ(answer_to([] { return ::umount2("/nowhere", 0); }), EPERM);
  for (const long number : {SYS_open_tree, SYS_fsopen, SYS_keyctl, SYS_add_key, SYS_bpf,
                            SYS_userfaultfd, SYS_io_uring_setup, SYS_perf_event_open}) {
    EXPECT_EQ(answer_to([=] { return ::syscall(number, -1, nullptr, 0, 0, 0); }), EPERM) << number;
  }
  EXPECT_EQ(answer_to([] { return ::socket(AF_VSOCK, SOCK_STREAM, 0); }), EPERM);
}

TEST(SystemCalls, that_programs_need_work) {
  EXPECT_EQ(answer_to([] { return ::fork() < 0 ? -1 : 0; }), 0);
  EXPECT_EQ(answer_to([] { return ::unshare(CLONE_FS | CLONE_FILES); }), 0);
  EXPECT_EQ(answer_to([] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(answer_to([] { return ::socket(AF_INET, SOCK_STREAM, 0); }), 0);
  EXPECT_EQ(answer_to([] { return ::memfd_create("x", 0); }), 0);
  EXPECT_EQ(answer_to([] { return ::execl("/bin/true", "true", nullptr); }), 0);
}

#if defined(__x86_64__)
TEST(SystemCalls, have_no_second_set_of_numbers) {
  // unshare of x32, and of 32 bits.
  EXPECT_EQ(answer_to([] { return ::syscall(0x40000000 | SYS_unshare, CLONE_NEWUSER); }), ENOSYS);
  EXPECT_EQ(answer_to([] {
              long result = 310;
              asm volatile("int $0x80" : "+a"(result) : "b"(CLONE_NEWUSER) : "memory");
              return result;
            }),
            -1);
}
#endif

}  // namespace
}  // namespace codeflare::node::internal
