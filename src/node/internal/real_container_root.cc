#include "node/internal/real_container_root.h"

#include "base/posix.h"
#include "node/internal/real_mounts.h"
#include "node/internal/real_places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node::internal {

namespace {

// In the keeper's own root; each init has its own mount there.
constexpr const char* kScratch = "/tmp";
constexpr const char* kStage = "/tmp/stage";  // beside the container's root
constexpr std::int64_t kBytesPerFile = 4096;
constexpr std::int64_t kFilesMin = 4096;
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

// Bounded by what the container may have of memory; without a limit by half of the machine's, which
// is the kernel's own choice for each file system.
std::string scratch_options(std::int64_t memory_limit) {
  if (memory_limit <= 0) {
    return "mode=755,size=50%";
  }
  return "mode=755,size=" + std::to_string(memory_limit) +
         ",nr_inodes=" + std::to_string(std::max(memory_limit / kBytesPerFile, kFilesMin));
}

// For everybody, as /tmp is.
Result<void> make_open_directory(const std::string& path) {
  TRY(make_directory(path));
  if (::chmod(path.c_str(), 01777) != 0) {
    return fail(posix_error(errno, "open " + path + " for everybody"));
  }
  return {};
}

// "volumes/NAME/sub" in the pod's directory, with "sub" made when it is not there. What a container
// has put on the way cannot lead out of the volume.
Result<FileDescriptor> open_in_volume(const KeeperView& view, const std::string& source) {
  constexpr std::string_view kVolumes = "volumes/";
  if (!source.starts_with(kVolumes)) {
    return fail(invalid_argument(source + " is in no volume"));
  }
  const std::size_t end = std::min(source.find('/', kVolumes.size()), source.size());
  const std::string volume = source.substr(0, end);
  if (volume.size() == kVolumes.size() || volume.ends_with("/.") || volume.ends_with("/..")) {
    return fail(invalid_argument(source + " is in no volume"));
  }
  TRY_ASSIGN(const FileDescriptor top, open_top(view.pod + "/" + volume));
  return open_place(top.get(), source.substr(end),
                    {.missing = Missing::made_directory, .mode = 0777});
}

// Wherever links in the container's file system point: a mount must not be led out of it.
Result<void> bind_at(const FileDescriptor& source, const FileDescriptor& root,
                     const std::string& target, bool read_only) {
  struct stat info{};
  if (!target.starts_with('/')) {
    return fail(invalid_argument("mount path " + target + " is not absolute"));
  }
  if (::fstat(source.get(), &info) != 0) {
    return fail(posix_error(errno, "look at what is mounted at " + target));
  }
  const Missing missing = S_ISDIR(info.st_mode) ? Missing::made_directory : Missing::made_file;
  TRY_ASSIGN(const FileDescriptor place,
             open_place(root.get(), target, {.links = Links::chrooted, .missing = missing}));
  Result<void> bound =
      bind_descriptor(source.get(), place.get(), {.read_only = read_only, .stage = kStage});
  return bound ? Result<void>() : fail(std::move(bound).error().with_context(target));
}

// Volumes at their paths, then what the container leaves as its last words and where it begins.
Result<void> add_volumes(const KeeperView& view, const std::string& directory,
                         const ContainerSpec& spec) {
  TRY_ASSIGN(const FileDescriptor root, open_top(directory));
  // Outer ones first, so that none covers another: a path is less than what lies below it.
  std::vector<MountSpec> mounts = spec.mounts;
  std::ranges::sort(mounts, {}, &MountSpec::target);
  for (const MountSpec& mount : mounts) {
    TRY_ASSIGN(const FileDescriptor source, open_in_volume(view, mount.source));
    TRY(bind_at(source, root, mount.target, mount.read_only));
  }
  if (!spec.message_path.empty()) {
    TRY_ASSIGN(const FileDescriptor source,
               open_top(view.pod + "/messages/" + spec.name + "." + std::to_string(spec.attempt)));
    TRY(bind_at(source, root, spec.message_path, false));
  }
  if (!spec.working_directory.empty()) {
    // As runtimes do; a directory that is read-only and not there is found out when it is entered.
    static_cast<void>(open_place(root.get(), spec.working_directory,
                                 {.links = Links::chrooted, .missing = Missing::made_directory}));
  }
  return {};
}

// What images need below directories that every container has empty.
Result<void> bring_covered(const KeeperView& view, const SandboxSpec& sandbox,
                           const ContainerSpec& spec, const std::string& root) {
  for (const std::string& needed : sandbox.directories) {
    if (spec.root.empty() && (needed.starts_with("/tmp/") || needed.starts_with("/run/"))) {
      TRY(bind_mount(view.host + needed, root + needed, true));
    }
  }
  return {};
}

}  // namespace

Result<FileDescriptor> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                            const ContainerSpec& spec) {
  const std::string scratch = kScratch;
  const std::string root = scratch + "/root";
  TRY(mount_tmpfs(scratch, scratch_options(spec.memory_limit)));
  TRY(make_directory(root));
  TRY(bind_directory_alone(root, root));  // what is pivoted into must be a mount
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
  TRY(make_open_directory(scratch + "/shm"));
  TRY(bind_directory_alone(scratch + "/shm", root + "/dev/shm"));
  TRY(make_open_directory(root + "/tmp"));
  TRY(make_directory(root + "/run"));
  TRY(bring_covered(view, sandbox, spec, root));
  TRY(make_directory(root + "/root", 0700));
  TRY(make_directory(root + "/home"));
  TRY(make_directory(root + "/var/tmp"));
  TRY(make_link("/run", root + "/var/run"));
  TRY(mount_proc(root + "/proc"));
  TRY(protect_proc(root + "/proc"));
  TRY(add_volumes(view, root, spec));
  TRY_ASSIGN(FileDescriptor files, open_top(scratch));
  TRY(pivot_into(root));
  return files;
}

}  // namespace codeflare::node::internal
