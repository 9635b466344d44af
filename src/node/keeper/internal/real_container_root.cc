#include "node/keeper/internal/real_container_root.h"

#include "base/env/file_system.h"
#include "base/posix.h"
#include "node/keeper/gpu_devices.h"
#include "node/keeper/internal/real_group_view.h"
#include "node/keeper/internal/real_image_root.h"
#include "node/system/mounts.h"
#include "node/system/places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <iterator>
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
constexpr std::array<const char*, 2> kHomes = {"/root", "/home"};
constexpr std::array<const char*, 5> kEtcFiles = {"hosts", "resolv.conf", "hostname", "passwd",
                                                  "group"};

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

// "volumes/NAME/sub" in the pod's directory, with "sub" made when it is not there. A container's
// links on the way cannot lead out of the volume.
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

// Files in /etc that the pod has of its own, by their paths.
std::vector<std::string> etc_files_of(const KeeperView& view) {
  std::vector<std::string> files;
  for (const char* name : kEtcFiles) {
    const std::string path = std::string("/etc/") + name;
    if (struct stat info{}; ::stat((view.pod + path).c_str(), &info) == 0) {
      files.push_back(path);
    }
  }
  return files;
}

// Where something has to be made in the image for what the container is promised.
Result<std::vector<std::string>> changed_directories(const std::string& image,
                                                     const ContainerSpec& spec) {
  std::vector<std::string> promised = {spec.message_path, spec.working_directory};
  std::ranges::transform(spec.mounts, std::back_inserter(promised), &MountSpec::target);
  std::vector<std::string> changed(kHomes.begin(), kHomes.end());
  TRY_ASSIGN(const FileDescriptor top, open_top(image));
  for (const std::string& path : promised) {
    if (path.starts_with('/') && !open_place(top.get(), path, {.links = Links::chrooted})) {
      changed.push_back(parent_path(path));
    }
  }
  return changed;
}

Result<std::string> image_directory(const KeeperView& view, const SandboxSpec& sandbox,
                                    const std::string& root) {
  const auto found = std::ranges::find(sandbox.roots, root);
  if (found == sandbox.roots.end()) {
    return fail(invalid_argument("the pod has no root file system " + root));
  }
  return view.images + "/" + std::to_string(found - sandbox.roots.begin());
}

// The machine's programs, which are read-only; or the root file system of an image.
Result<void> make_root(ImageRoot made, const ContainerSpec& spec) {
  if (spec.root.empty()) {
    TRY(bind_directory_alone(made.root, made.root));  // what is pivoted into must be a mount
    return bind_programs(made.image, made.root);
  }
  TRY_ASSIGN(made.own, changed_directories(made.image, spec));
  return make_image_root(made);
}

// Read-only, each at its own path: what is around it stays the container's, and so do directories
// that every container has.
Result<void> bring_directories(const ImageRoot& made, const std::vector<std::string>& needed) {
  for (const std::string& directory : needed) {
    TRY(leads_to_own(made, directory)
            ? bring_entries(made, directory)
            : bind_mount(made.image + directory, made.root + directory, true));
  }
  return {};
}

// The directories and devices of every container beside its programs.
Result<void> add_usual_places(const ImageRoot& made, const KeeperView& view,
                              const std::vector<std::string>& devices) {
  const std::string& root = made.root;
  for (const std::string& file : made.files) {
    TRY(bind_mount(view.pod + file, root + file, true));
  }
  TRY(make_devices("/dev", root + "/dev", devices));
  TRY(make_open_directory(made.scratch + "/shm"));
  TRY(bind_directory_alone(made.scratch + "/shm", root + "/dev/shm"));
  TRY(make_open_directory(root + "/tmp"));
  TRY(make_directory(root + "/run"));
  for (const char* home : kHomes) {
    TRY(make_directory(root + home));
  }
  TRY(make_open_directory(root + "/var/tmp"));
  return make_link("/run", root + "/var/run");
}

}  // namespace

Result<ContainerRoot> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                           const ContainerSpec& spec) {
  ImageRoot made{.image = view.host,
                 .scratch = kScratch,
                 .root = std::string(kScratch) + "/root",
                 .own = {kHomes.begin(), kHomes.end()},
                 .files = etc_files_of(view)};
  if (!spec.root.empty()) {
    TRY_ASSIGN(made.image, image_directory(view, sandbox, spec.root));
  }
  TRY(mount_tmpfs(made.scratch, scratch_options(spec.memory_limit)));
  TRY(make_directory(made.root));
  TRY(make_root(made, spec));
  TRY(add_usual_places(made, view, gpu_files(gpus_of(sandbox.devices, spec.name))));
  if (spec.root.empty()) {
    TRY(bring_directories(made, sandbox.directories));
  }
  TRY(show_groups({.groups = "/groups", .scratch = made.scratch, .root = made.root}, sandbox,
                  spec));
  TRY(mount_proc(made.root + "/proc"));
  TRY_ASSIGN(FileDescriptor proc, protect_proc(made.root + "/proc"));
  TRY(add_volumes(view, made.root, spec));
  if (spec.read_only_root) {
    TRY(make_top_read_only(made.root));  // last: until here things are put into it
  }
  TRY_ASSIGN(FileDescriptor files, open_top(made.scratch));
  TRY(pivot_into(made.root));
  return ContainerRoot{.files = std::move(files), .proc = std::move(proc)};
}

}  // namespace codeflare::node::internal
