#include "base/env/file_system.h"
#include "base/posix.h"
#include "node/system/mounts.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace codeflare::node {

namespace {

// Of /etc: how names and accounts are looked up, where libraries and certificates are. Nothing that
// is about this machine's users or services.
constexpr const char* kEtc[] = {"alternatives",    "ca-certificates", "ca-certificates.conf",
                                "debian_version",  "fonts",           "ld.so.cache",
                                "ld.so.conf",      "ld.so.conf.d",    "localtime",
                                "magic",           "mime.types",      "nsswitch.conf",
                                "os-release",      "pki/tls/certs",   "protocols",
                                "python3",         "services",        "ssl/certs",
                                "ssl/openssl.cnf", "terminfo"};
constexpr const char* kPrograms[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"};
// Paths that Docker and containerd mask, and others with the kernel's memory and configuration that
// the machine's root reads: containers of a node that runs as root have its id.
constexpr const char* kProcHidden[] = {
    "acpi",       "allocinfo",     "asound",       "config.gz",   "interrupts",
    "kcore",      "keys",          "kmsg",         "kpagecgroup", "kpagecount",
    "kpageflags", "latency_stats", "pagetypeinfo", "sched_debug", "scsi",
    "slabinfo",   "timer_list",    "timer_stats",  "vmallocinfo", "vmcore"};
constexpr const char* kDevices[] = {"null", "zero", "full", "random", "urandom", "tty"};

Error failed(std::string_view what, const std::string& path) {
  return posix_error(errno, std::string(what) + " " + path);
}

// For kernels without mount_setattr(): the mount itself, not what is mounted below it.
Result<void> limit_top(const std::string& path, const MountLimits& limits) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) {
    return fail(failed("look at", path));
  }
  // Of a mount that comes from outside no limit can be taken away.
  constexpr unsigned long kKept = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const unsigned long flags = (info.f_flag & kKept) | MS_NOSUID |
                              (limits.read_only ? MS_RDONLY : 0) |
                              (limits.devices ? MS_NOEXEC : MS_NODEV);
  if (::mount(nullptr, path.c_str(), nullptr, MS_REMOUNT | MS_BIND | flags, nullptr) != 0) {
    return fail(failed("limit the mount at", path));
  }
  return {};
}

Result<void> limit_mount(const std::string& path, const MountLimits& limits) {
  mount_attr attributes = attributes_of(limits);
  if (::mount_setattr(AT_FDCWD, path.c_str(), AT_RECURSIVE, &attributes, sizeof attributes) == 0) {
    return {};
  }
  // EPERM: a filter of system calls that is older than this one says so.
  return errno == ENOSYS || errno == EPERM ? limit_top(path, limits)
                                           : fail(failed("limit the mount at", path));
}

// A device file that can be read and written to, but not changed itself: who has the id of its
// owner could give it another mode.
constexpr MountLimits kDevice{.read_only = true, .devices = true};

// With nothing: an empty directory, or a file that reads as empty.
Result<void> hide_in_proc(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    return {};
  }
  return S_ISDIR(info.st_mode) ? cover_directory(path) : bind_limited("/dev/null", path, kDevice);
}

// The same link again, or a read-only bind of the directory or file; nothing when it is not there.
Result<void> bring(const std::string& from, const std::string& to) {
  struct stat info{};
  if (::lstat(from.c_str(), &info) != 0) {
    return {};
  }
  if (S_ISLNK(info.st_mode)) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(from.c_str(), target.data(), target.size() - 1);
    return size < 0 ? fail(failed("read link", from)) : make_link(target.data(), to);
  }
  return bind_mount(from, to, true);
}

}  // namespace

mount_attr attributes_of(const MountLimits& limits) {
  mount_attr attributes{};
  attributes.attr_set =
      MOUNT_ATTR_NOSUID | static_cast<std::uint64_t>(limits.read_only ? MOUNT_ATTR_RDONLY : 0) |
      static_cast<std::uint64_t>(limits.devices ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV);
  return attributes;
}

Result<void> make_directory(const std::string& path, std::uint32_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) {
    return {};
  }
  if (errno != ENOENT || path.find('/') == std::string::npos || path == "/") {
    return fail(failed("make directory", path));
  }
  TRY(make_directory(parent_path(path), 0755));
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return fail(failed("make directory", path));
  }
  return {};
}

Result<void> make_file(const std::string& path) {
  TRY(make_directory(parent_path(path)));
  // Not opened: that would wait indefinitely at a pipe.
  if (::mknod(path.c_str(), S_IFREG | 0644, 0) != 0 && errno != EEXIST) {
    return fail(failed("make", path));
  }
  return {};
}

Result<void> make_link(const std::string& to, const std::string& path) {
  if (::symlink(to.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    return fail(failed("make link", path));
  }
  return {};
}

Result<void> write_small_file(const std::string& path, std::string_view text) {
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return fail(failed("write", path));
  }
  return {};
}

Result<std::string> read_whole_file(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  std::string text;
  std::array<char, 16384> buffer{};
  for (ssize_t size = 0; (size = ::read(file.get(), buffer.data(), buffer.size())) != 0;) {
    if (size < 0) {
      return fail(posix_error(errno, "read " + path));
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

Result<void> make_mounts_private() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return fail(failed("make private", "/"));
  }
  return {};
}

Result<void> mount_tmpfs(const std::string& at, const std::string& options) {
  TRY(make_directory(at));
  if (::mount("tmpfs", at.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return fail(failed("mount a tmpfs at", at));
  }
  return {};
}

Result<void> cover_directory(const std::string& at) {
  if (::mount("tmpfs", at.c_str(), "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
              "mode=555,size=4k") != 0) {
    return fail(failed("hide", at));
  }
  return {};
}

Result<void> mount_overlay(const std::string& at, const OverlayLayers& layers) {
  // In a user namespace the kernel's own notes about files have to be of the kind that users write.
  const std::string options = "lowerdir=" + layers.lower + ",upperdir=" + layers.upper +
                              ",workdir=" + layers.work + ",userxattr";
  if (::mount("overlay", at.c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    return fail(errno == ENODEV ? unsupported("the kernel has no overlays")
                                : failed("mount an overlay at", at));
  }
  // A kernel that cannot work in the upper layer mounts the lower one alone, and says nothing.
  struct statvfs info{};
  if (::statvfs(at.c_str(), &info) != 0) {
    return fail(failed("look at the overlay at", at));
  }
  if ((info.f_flag & ST_RDONLY) != 0) {
    ::umount2(at.c_str(), MNT_DETACH);
    return fail(unsupported("the kernel makes only read-only overlays here"));
  }
  return {};
}

Result<void> mount_proc(const std::string& at) {
  TRY(make_directory(at, 0555));
  if (::mount("proc", at.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return fail(failed("mount proc at", at));
  }
  return {};
}

Result<FileDescriptor> protect_proc(const std::string& proc) {
  for (const char* name : kProcHidden) {
    TRY(hide_in_proc(proc + "/" + name));
  }
  FileDescriptor writable(::open(proc.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!writable || ::mount(proc.c_str(), proc.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return fail(failed("protect", proc));
  }
  TRY(limit_mount(proc, kDevice));  // devices: what is hidden reads as empty
  return writable;
}

Result<void> bind_mount(const std::string& source, const std::string& target, bool read_only) {
  struct stat info{};
  if (::stat(source.c_str(), &info) != 0) {
    return fail(failed("find", source));
  }
  TRY(S_ISDIR(info.st_mode) ? make_directory(target) : make_file(target));
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) {
    return fail(failed("bind " + source + " at", target));
  }
  return read_only ? limit_mount(target, {.read_only = true}) : Result<void>();
}

Result<void> bind_limited(const std::string& source, const std::string& target,
                          const MountLimits& limits) {
  TRY(bind_mount(source, target, false));
  return limit_mount(target, limits);
}

Result<void> bind_place(const std::string& source, const std::string& target) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  FileDescriptor place(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, source.c_str(), &how, sizeof how)));
  if (!place) {
    return fail(failed("open", source));
  }
  return bind_mount("/proc/self/fd/" + std::to_string(place.get()), target, false);
}

Result<void> bind_directory_alone(const std::string& source, const std::string& target) {
  TRY(make_directory(target));
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    return fail(failed("bind " + source + " at", target));
  }
  return {};
}

Result<void> make_top_read_only(const std::string& path) {
  return limit_top(path, {.read_only = true});
}

Result<void> pivot_into(const std::string& root) {
  if (::chdir(root.c_str()) != 0) {
    return fail(failed("enter", root));
  }
  // Both places may be the same: the old root then lies on top of the new one and is taken off.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) {
    return fail(failed("pivot into", root));
  }
  if (::umount2(".", MNT_DETACH) != 0 || ::chdir("/") != 0) {
    return fail(failed("leave the old root of", root));
  }
  return {};
}

Result<void> make_devices(const std::string& source, const std::string& at,
                          const std::vector<std::string>& more) {
  TRY(mount_tmpfs(at, "mode=755,size=64k"));
  for (const char* name : kDevices) {
    TRY(bind_limited(source + "/" + name, at + "/" + name, kDevice));
  }
  for (const std::string& name : more) {
    if (::access((source + "/" + name).c_str(), F_OK) == 0) {
      TRY(bind_limited(source + "/" + name, at + "/" + name, kDevice));
    }
  }
  TRY(make_link("/proc/self/fd", at + "/fd"));
  TRY(make_link("/proc/self/fd/0", at + "/stdin"));
  TRY(make_link("/proc/self/fd/1", at + "/stdout"));
  TRY(make_link("/proc/self/fd/2", at + "/stderr"));
  TRY(make_directory(at + "/pts"));
  if (::mount("devpts", (at + "/pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") == 0) {
    TRY(make_link("pts/ptmx", at + "/ptmx"));
  }
  return {};
}

Result<void> bind_programs(const std::string& from, const std::string& to) {
  TRY(make_directory(to));
  for (const char* name : kPrograms) {
    TRY(bring(from + "/" + name, to + "/" + name));
  }
  TRY(make_directory(to + "/etc"));
  for (const char* name : kEtc) {
    TRY(bring(from + "/etc/" + name, to + "/etc/" + name));
  }
  return {};
}

}  // namespace codeflare::node
