#include "node/keeper/internal/real_system_calls.h"

#include "base/posix.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <vector>

namespace codeflare::node::internal {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kOwnArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kOwnArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::uint32_t kOwnArchitecture = AUDIT_ARCH_RISCV64;
#else
#error "which number the kernel has for this architecture is not known here"
#endif

// Numbers that are the same on all architectures; headers may be older than the kernel.
constexpr std::uint32_t kOpenTreeAttr = 467;
constexpr std::uint32_t kNewTime = 0x80;  // CLONE_NEWTIME
constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint32_t kOtherNumbers = 0x40000000;  // of x32, on x86-64

constexpr std::uint32_t kForbidden[] = {
    // Mounts and namespaces.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_setns, SYS_open_tree, SYS_move_mount, SYS_fsopen,
    SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_mount_setattr, kOpenTreeAttr,
    // Files past all paths.
    SYS_open_by_handle_at,
    // Keys: they belong to users, not to containers.
    SYS_keyctl, SYS_add_key, SYS_request_key,
    // Calls that look into the kernel or drive it in ways that no program here needs.
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_syslog, SYS_kexec_load, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_quotactl, SYS_acct, SYS_swapon, SYS_swapoff, SYS_reboot};

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;

constexpr std::uint32_t answer(int error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
}

// Straight on, one question after the other, so that no jump is longer than its byte can say. The
// kernel finds out once which calls are allowed whatever their arguments, and does not ask again.
class Program {
 public:
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  // Ends with `result` unless the test fails.
  void when(int test, std::uint32_t value, std::uint32_t result) {
    add(BPF_JMP | test | BPF_K, value, 0, 1);
    end(result);
  }
  void end(std::uint32_t result) { add(BPF_RET | BPF_K, result); }
  // The call `number` with one of these bits in its first argument; without them it is allowed.
  void when_flags(std::uint32_t number, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4);
    load(offsetof(seccomp_data, args));  // its lower half: these machines are little endian
    when(BPF_JSET, bits, answer(EPERM));
    end(kAllow);
  }

  std::vector<sock_filter> steps{};

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    steps.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
};

std::vector<sock_filter> filter() {
  Program program;
  // Another architecture has other numbers, which would pass here for something else.
  program.load(offsetof(seccomp_data, arch));
  program.steps.push_back({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, kOwnArchitecture});
  program.end(SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  program.when(BPF_JGE, kOtherNumbers, answer(ENOSYS));
#endif
  program.when(BPF_JEQ, SYS_clone3, answer(ENOSYS));
  for (const std::uint32_t number : kForbidden) {
    program.when(BPF_JEQ, number, answer(EPERM));
  }
  program.when_flags(SYS_clone, kNamespaces);
  program.when_flags(SYS_unshare, kNamespaces | kNewTime);
  program.steps.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 3, SYS_socket});
  program.load(offsetof(seccomp_data, args));
  // The way to whoever runs this machine as a virtual one; networks are not asked.
  program.when(BPF_JEQ, AF_VSOCK, answer(EPERM));
  program.end(kAllow);
  return program.steps;
}

}  // namespace

Result<void> forbid_system_calls() {
  std::vector<sock_filter> steps = filter();
  const sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) {
    return fail(posix_error(errno, "forbid system calls"));
  }
  return {};
}

}  // namespace codeflare::node::internal
