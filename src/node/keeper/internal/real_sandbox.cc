#include "node/keeper/internal/real_sandbox.h"

#include "base/posix.h"
#include "node/keeper/gpu_devices.h"
#include "node/keeper/internal/real_group_view.h"
#include "node/keeper/internal/real_system_calls.h"
#include "node/system/daemon.h"
#include "node/system/forbidden.h"
#include "node/system/host_path.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"
#include "node/system/places.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <string_view>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

int exit_code(const Result<void>& tried) {
  return tried ? 0 : is_forbidden(tried.error()) ? kForbiddenExit : 1;
}

// All that can fail on the way that a container goes, after that of its keeper.
Result<void> probe_container(const std::string& directory) {
  TRY(make_directory(directory + "/place"));
  TRY_ASSIGN(const FileDescriptor source, open_top(directory + "/usr"));
  TRY_ASSIGN(const FileDescriptor target, open_top(directory + "/place"));
  TRY(bind_descriptor(source.get(), target.get(),
                      {.read_only = true, .stage = directory + "/stage"}));
  TRY(pivot_into(directory));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fail(posix_error(errno, "forbid new privileges"));
  }
  return forbid_system_calls();
}

// In a child of the probe: all that can fail, on the way that a keeper goes.
Result<void> probe_in_child(const std::string& directory) {
  TRY(enter_namespaces());
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(posix_error(errno, "fork in a PID namespace"));
  }
  if (child == 0) {
    const auto mounted = [&]() -> Result<void> {
      TRY(make_mounts_private());
      TRY(mount_tmpfs(directory, "mode=755"));
      TRY(bind_mount("/usr", directory + "/usr", true));
      TRY(mount_proc(directory + "/proc"));
      return probe_container(directory);
    }();
    if (!mounted) {
      static_cast<void>(
          !::write(STDERR_FILENO, mounted.error().message.data(), mounted.error().message.size()));
    }
    ::_exit(exit_code(mounted));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {};
  }
  // It has said why.
  return WIFEXITED(status) && WEXITSTATUS(status) == kForbiddenExit ? fail(permission_denied(""))
                                                                    : fail(unavailable(""));
}

struct Hidden {
  const std::vector<std::string>& paths;
  std::string nothing;  // an empty file
  std::string stage;    // as in BindOptions
};

// With an empty directory or file. Not with a device: volumes have none.
Result<void> cover(const FileDescriptor& place, const Hidden& hidden) {
  struct stat info{};
  if (::fstat(place.get(), &info) != 0) {
    return fail(posix_error(errno, "look at what is hidden"));
  }
  if (S_ISDIR(info.st_mode)) {
    return cover_directory("/proc/self/fd/" + std::to_string(place.get()));
  }
  TRY_ASSIGN(const FileDescriptor nothing, open_top(hidden.nothing));
  return bind_descriptor(nothing.get(), place.get(), {.read_only = true, .stage = hidden.stage});
}

// Covers what is hidden below `target`, where `source` is seen.
Result<void> hide(const Hidden& hidden, const std::string& source, const std::string& target) {
  std::array<char, PATH_MAX> real{};
  if (::realpath(source.c_str(), real.data()) == nullptr) {
    return fail(posix_error(errno, "find " + source));
  }
  const std::string_view around = real.data();
  for (const std::string& path : hidden.paths) {
    if (!is_within(path, around)) {
      continue;
    }
    TRY_ASSIGN(const FileDescriptor top, open_top(target));
    const std::string below = path.substr(around == "/" ? 0 : around.size());
    const Result<FileDescriptor> place = open_place(top.get(), below, {});
    if (!place && place.error().code == ErrorCode::not_found) {
      continue;
    }
    Result<void> covered = place ? cover(*place, hidden) : fail(place.error());
    if (!covered) {
      return fail(std::move(covered).error().with_context("hide " + path));
    }
  }
  return {};
}

}  // namespace

Result<void> let_go_of_keys_and_groups() {
  // A new session, without a name and without keys. It may fail: kernels may be without keys, and
  // each counts for its user, who has some two hundred. Containers cannot ask for keys anyway; this
  // keeps file systems from using them in their name.
  static_cast<void>(::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr));
  if (::geteuid() == 0 && ::setgroups(0, nullptr) != 0 && errno != EPERM) {
    return fail(posix_error(errno, "leave all groups"));
  }
  return {};
}

Result<KeeperView> move_into_pod_root(const SandboxSpec& spec, const std::string& directory) {
  const std::string root = directory + "/root";
  const Hidden hidden{.paths = spec.hidden, .nothing = root + "/nothing", .stage = root + "/stage"};
  TRY(make_mounts_private());
  TRY(mount_tmpfs(root, "mode=755"));
  TRY(make_file(hidden.nothing));
  TRY(bind_programs("", root + "/host"));
  TRY(hide(hidden, "/", root + "/host"));
  TRY(make_devices("/dev", root + "/dev", gpu_files(gpus_of(spec.devices))));
  // Directories that images need are brought to the same place below the programs.
  for (const std::string& needed : spec.directories) {
    TRY(bind_mount(needed, root + "/host" + needed, true));
    TRY(hide(hidden, needed, root + "/host" + needed));
  }
  TRY(make_directory(root + "/images"));
  for (std::size_t i = 0; i < spec.roots.size(); ++i) {
    const std::string at = root + "/images/" + std::to_string(i);
    TRY(bind_mount(spec.roots[i], at, true));
    TRY(hide(hidden, spec.roots[i], at));
  }
  bring_groups(spec, root + "/groups");
  TRY(make_directory(root + "/tmp"));
  // Alone: the root that is being built lies in it.
  TRY(bind_directory_alone(directory, root + "/pod"));
  for (const MemoryVolume& volume : spec.memory_volumes) {
    TRY(mount_tmpfs(root + "/pod/volumes/" + volume.name,
                    volume.size > 0 ? "mode=777,size=" + std::to_string(volume.size)
                                    : std::string("mode=777")));
  }
  for (const MachineVolume& volume : spec.machine_volumes) {
    const std::string at = root + "/pod/volumes/" + volume.name;
    TRY(bind_place(volume.source, at));
    TRY(hide(hidden, volume.source, at));
  }
  TRY(mount_proc(root + "/proc"));
  TRY(pivot_into(root));
  if (!spec.hostname.empty() && ::sethostname(spec.hostname.data(), spec.hostname.size()) != 0) {
    return fail(posix_error(errno, "set the host name"));
  }
  return KeeperView{.isolated = true, .pod = "/pod", .host = "/host", .images = "/images"};
}

Result<void> probe_namespaces(const std::string& empty_directory) {
  TRY_ASSIGN(const ForkedChild probe, fork_and_hear([&](FileDescriptor report) {
               ::dup2(report.get(), STDERR_FILENO);
               const Result<void> tried = probe_in_child(empty_directory);
               if (!tried) {
                 say(report, tried.error().message);
               }
               ::_exit(exit_code(tried));
             }));
  int status = 0;
  while (::waitpid(probe.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return {};
  }
  const bool forbidden = WIFEXITED(status) && WEXITSTATUS(status) == kForbiddenExit;
  const std::string& said = probe.report;
  return fail(forbidden ? unsupported(said) : unavailable(said.empty() ? "it ended early" : said));
}

}  // namespace codeflare::node::internal
