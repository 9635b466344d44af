#include "node/internal/real_container_root.h"

#include "base/posix.h"
#include "node/internal/real_mounts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace codeflare::node::internal {

namespace {

// In the keeper's own root; each init has its own mount there.
constexpr const char* kRoot = "/tmp";
constexpr std::array<const char*, 5> kEtcFiles = {"hosts", "resolv.conf", "hostname", "passwd",
                                                  "group"};

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Every entry of `from` in a new directory: links again, the rest bound. So names can be added
// beside them although they are read-only.
Result<void> bring_entries(const std::string& from, const std::string& to) {
  std::unique_ptr<DIR, CloseDirectory> directory(::opendir(from.c_str()));
  if (directory == nullptr) {
    return fail(posix_error(errno, "list " + from));
  }
  TRY(make_directory(to));
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || name == "etc" || name == "proc" || name == "dev" ||
        name == "sys" || name == "tmp" || name == "run") {
      continue;
    }
    const std::string source = from + "/" + name;
    const std::string target = to + "/" + name;
    struct stat info{};
    if (::lstat(source.c_str(), &info) != 0) {
      continue;
    }
    if (S_ISLNK(info.st_mode)) {
      std::array<char, 4096> link{};
      if (::readlink(source.c_str(), link.data(), link.size() - 1) > 0) {
        TRY(make_link(link.data(), target));
      }
    } else if (S_ISDIR(info.st_mode) || S_ISREG(info.st_mode)) {
      TRY(bind_mount(source, target, true));
    }
  }
  return {};
}

// A path of the container, wherever links in its file system point: a mount must not be led out.
Result<std::string> below_root(const std::string& target) {
  if (!target.starts_with('/') || target.find("/../") != std::string::npos ||
      target.ends_with("/..")) {
    return fail(invalid_argument("mount path " + target + " is not absolute"));
  }
  std::string path = kRoot;
  std::size_t at = 0;
  while (at < target.size()) {
    const std::size_t end = std::min(target.find('/', at), target.size());
    if (end > at) {
      path += "/" + target.substr(at, end - at);
      struct stat info{};
      if (::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
        std::array<char, 4096> link{};
        if (::readlink(path.c_str(), link.data(), link.size() - 1) <= 0) {
          return fail(posix_error(errno, "read link " + path));
        }
        // One step is enough for /var/run and /bin; more would have to be followed inside.
        const std::string to = link.data();
        path = to.starts_with('/') ? kRoot + to : path.substr(0, path.rfind('/') + 1) + to;
        if (to.find("..") != std::string::npos) {
          return fail(invalid_argument("mount path " + target + " leads through the link " + to));
        }
      }
    }
    at = end + 1;
  }
  return path;
}

// "volumes/NAME/sub" in the pod's directory. What the path leads to must lie in that volume: a
// container may have made links there.
Result<std::string> volume_path(const KeeperView& view, const std::string& source) {
  const std::size_t first = source.find('/');
  const std::size_t end = first == std::string::npos ? first : source.find('/', first + 1);
  const std::string volume = view.pod + "/" + source.substr(0, end);
  std::array<char, PATH_MAX> real{};
  if (!source.starts_with("volumes/") ||
      ::realpath((view.pod + "/" + source).c_str(), real.data()) == nullptr) {
    return fail(posix_error(errno, "find " + source));
  }
  const std::string path = real.data();
  if (path != volume && !path.starts_with(volume + "/")) {
    return fail(permission_denied(source + " leads out of its volume"));
  }
  return path;
}

Result<void> mount_volume(const KeeperView& view, const MountSpec& mount) {
  // Places inside volumes that do not exist yet are directories.
  const std::string place = view.pod + "/" + mount.source;
  if (struct stat info{}; mount.source.starts_with("volumes/") &&
                          ::stat(place.c_str(), &info) != 0 && errno == ENOENT) {
    TRY(make_directory(place, 0777));
  }
  TRY_ASSIGN(const std::string source, volume_path(view, mount.source));
  TRY_ASSIGN(const std::string target, below_root(mount.target));
  return bind_mount(source, target, mount.read_only);
}

// What images need below directories that every container has empty.
Result<void> bring_covered(const KeeperView& view, const SandboxSpec& sandbox,
                           const ContainerSpec& spec) {
  for (const std::string& needed : sandbox.directories) {
    if (spec.root.empty() && (needed.starts_with("/tmp/") || needed.starts_with("/run/"))) {
      TRY(bind_mount(view.host + needed, kRoot + needed, true));
    }
  }
  return {};
}

}  // namespace

Result<void> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                  const ContainerSpec& spec) {
  const std::string root = kRoot;
  TRY(mount_tmpfs(root, "mode=755"));
  std::string programs = view.host;
  if (!spec.root.empty()) {
    const auto found = std::ranges::find(sandbox.roots, spec.root);
    if (found == sandbox.roots.end()) {
      return fail(invalid_argument("the pod has no root file system " + spec.root));
    }
    programs = view.images + "/" + std::to_string(found - sandbox.roots.begin());
  }
  TRY(bring_entries(programs, root));
  TRY(make_directory(root + "/etc"));
  if (struct stat info{}; ::stat((programs + "/etc").c_str(), &info) == 0) {
    TRY(bring_entries(programs + "/etc", root + "/etc"));
  }
  for (const char* name : kEtcFiles) {
    const std::string ours = view.pod + "/etc/" + name;
    if (struct stat info{}; ::stat(ours.c_str(), &info) == 0) {
      ::unlink((root + "/etc/" + name).c_str());
      TRY(bind_mount(ours, root + "/etc/" + name, true));
    }
  }
  TRY(make_devices("/dev", root + "/dev"));
  TRY(mount_tmpfs(root + "/tmp", "mode=1777"));
  TRY(mount_tmpfs(root + "/run", "mode=755"));
  TRY(bring_covered(view, sandbox, spec));
  TRY(make_directory(root + "/root", 0700));
  TRY(make_directory(root + "/home"));
  TRY(make_directory(root + "/var/tmp"));
  TRY(make_link("/run", root + "/var/run"));
  TRY(mount_proc(root + "/proc"));
  TRY(protect_proc(root + "/proc"));
  // Outer ones first, so that none covers another: a path is less than what lies below it.
  std::vector<MountSpec> mounts = spec.mounts;
  std::ranges::sort(mounts, {}, &MountSpec::target);
  for (const MountSpec& mount : mounts) {
    TRY(mount_volume(view, mount));
  }
  if (!spec.message_path.empty()) {
    TRY_ASSIGN(const std::string path, below_root(spec.message_path));
    TRY(bind_mount(view.pod + "/messages/" + spec.name + "." + std::to_string(spec.attempt), path,
                   false));
  }
  if (!spec.working_directory.empty()) {
    TRY_ASSIGN(const std::string path, below_root(spec.working_directory));
    // As runtimes do; a directory that is read-only and not there is found out when it is entered.
    static_cast<void>(make_directory(path));
  }
  return pivot_into(root);
}

}  // namespace codeflare::node::internal
