#include "base/posix.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

std::string map_line(std::uint32_t inside, std::uint32_t outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1\n";
}

struct Kind {
  int flag;
  const char* name;  // in user.max_NAME_namespaces
};
constexpr std::array<Kind, 6> kKinds = {{{CLONE_NEWUSER, "user"},
                                         {CLONE_NEWNS, "mnt"},
                                         {CLONE_NEWPID, "pid"},
                                         {CLONE_NEWIPC, "ipc"},
                                         {CLONE_NEWUTS, "uts"},
                                         {CLONE_NEWNET, "net"}}};

bool allows_none(const Kind& kind) {
  const std::string path = "/proc/sys/user/max_" + std::string(kind.name) + "_namespaces";
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 2> text{};
  return file && ::read(file.get(), text.data(), text.size()) == 2 && text[0] == '0' &&
         text[1] == '\n';
}

Result<void> make_namespaces(int kinds, std::string_view what) {
  if (::unshare(kinds) == 0) {
    return {};
  }
  const int why = errno;
  Error error = posix_error(why, what);
  if (why != ENOSPC && why != EUSERS) {
    return fail(std::move(error));
  }
  for (const Kind& kind : kKinds) {
    if ((kinds & kind.flag) != 0 && allows_none(kind)) {
      return fail(
          permission_denied(error.message + " (user.max_" + kind.name + "_namespaces is 0)"));
    }
  }
  return fail(std::move(error));
}

}  // namespace

Result<void> map_ids(const OwnIds& inside, const OwnIds& outside, const std::string& proc) {
  TRY(write_small_file(proc + "/self/setgroups", "deny"));
  TRY(write_small_file(proc + "/self/uid_map", map_line(inside.user, outside.user)));
  return write_small_file(proc + "/self/gid_map", map_line(inside.group, outside.group));
}

Result<void> enter_namespaces(int kinds, std::string_view what) {
  const OwnIds outside{.user = ::geteuid(), .group = ::getegid()};
  TRY(make_namespaces(kinds, what));
  return map_ids({}, outside);
}

Result<void> enter_namespaces() {
  return enter_namespaces(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS,
                          "make user, mount, PID and IPC namespaces");
}

}  // namespace codeflare::node
