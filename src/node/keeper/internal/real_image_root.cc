#include "node/keeper/internal/real_image_root.h"

#include "base/posix.h"
#include "base/split.h"
#include "node/system/forbidden.h"
#include "node/system/host_path.h"
#include "node/system/mounts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <dirent.h>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace codeflare::node::internal {

namespace {

constexpr std::array<std::string_view, 6> kPlaces = {"/dev", "/etc", "/proc",
                                                     "/run", "/tmp", "/var/tmp"};
// Of these nothing is brought.
constexpr std::array<std::string_view, 7> kFresh = {"/dev", "/proc",    "/run",    "/sys",
                                                    "/tmp", "/var/run", "/var/tmp"};
constexpr const char* kUpper = "/upper";
constexpr const char* kWork = "/work";
constexpr const char* kClosed = "/closed";  // in place of what we may not look into

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

template <typename Paths>
bool leads_to(const std::string& directory, const Paths& paths) {
  return std::ranges::any_of(paths,
                             [&](std::string_view path) { return is_within(path, directory); });
}

// For the container to write in, and otherwise as open as it was.
Result<void> make_directory_like(const std::string& path, mode_t mode) {
  TRY(make_directory(path));
  if (::chmod(path.c_str(), (mode & 01777) | 0700) != 0) {
    return fail(posix_error(errno, "open " + path));
  }
  return {};
}

Result<void> bring_entry(const ImageRoot& made, const std::string& path) {
  const std::string source = made.image + path;
  const std::string target = made.root + path;
  struct stat info{};
  if (::lstat(source.c_str(), &info) != 0) {
    return {};
  }
  if (S_ISDIR(info.st_mode) && leads_to_own(made, path)) {
    TRY(make_directory_like(target, info.st_mode));
    return bring_entries(made, path);
  }
  if (leads_to(path, kPlaces)) {
    return {};
  }
  if (S_ISLNK(info.st_mode)) {
    std::array<char, PATH_MAX> link{};
    const ssize_t size = ::readlink(source.c_str(), link.data(), link.size() - 1);
    return size < 0 ? fail(posix_error(errno, "read link " + path))
                    : make_link(link.data(), target);
  }
  return S_ISDIR(info.st_mode) || S_ISREG(info.st_mode) ? bind_mount(source, target, true)
                                                        : Result<void>();
}

// Of mounts themselves, not of what they cover.
bool has_mounts_below(const std::string& directory) {
  constexpr std::size_t kMountPoint = 4;  // "36 35 98:0 /root /mount/point options ..."
  std::ifstream mounts("/proc/self/mountinfo");
  if (!mounts) {
    return true;  // nobody knows
  }
  for (std::string line; std::getline(mounts, line);) {
    const std::vector<std::string_view> fields = split(line, ' ');
    if (fields.size() > kMountPoint && fields[kMountPoint].starts_with(directory + "/")) {
      return true;
    }
  }
  return false;
}

enum class AtLink : std::uint8_t { stop, replace };

// Makes the directory and those on the way to it in the upper layer, where what the image has in
// them is seen through. A link on the way ends it (stop), or a directory takes its place (replace).
// One that we may not look into cannot be seen through: it is added to `closed`.
Result<void> make_own(const ImageRoot& made, std::string_view path, AtLink at_link,
                      std::set<std::string>& closed) {
  const std::string upper = made.scratch + kUpper;
  std::string at;
  bool in_image = true;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") {
      continue;
    }
    at.append("/").append(part);
    struct stat info{};
    in_image = in_image && ::lstat((made.image + at).c_str(), &info) == 0;
    const bool is_directory = in_image && S_ISDIR(info.st_mode);
    if (part == ".." || (in_image && !is_directory && at_link == AtLink::stop)) {
      return {};
    }
    in_image = is_directory;
    if (in_image && ::access((made.image + at).c_str(), R_OK | X_OK) != 0) {
      closed.insert(at);
      return {};
    }
    TRY(make_directory_like(upper + at, in_image ? info.st_mode : 0755));
  }
  return {};
}

// Gives the directories that cannot be seen through.
Result<std::set<std::string>> make_upper(const ImageRoot& made) {
  std::set<std::string> closed;
  TRY(make_directory(made.scratch + kUpper));
  TRY(make_directory(made.scratch + kWork));
  for (const std::string_view place : kPlaces) {
    TRY(make_own(made, place, AtLink::replace, closed));
  }
  for (const std::string& directory : made.own) {
    TRY(make_own(made, directory, AtLink::stop, closed));
  }
  for (const std::string& file : made.files) {
    TRY(make_file(made.scratch + kUpper + file));
  }
  return closed;
}

Result<void> cover_closed(const ImageRoot& made, const std::set<std::string>& closed) {
  std::size_t number = 0;
  for (const std::string& directory : closed) {
    const std::string empty = made.scratch + kClosed + std::to_string(number++);
    TRY(make_directory(empty, 0700));
    TRY(bind_directory_alone(empty, made.root + directory));
  }
  return {};
}

}  // namespace

bool leads_to_own(const ImageRoot& made, const std::string& directory) {
  return leads_to(directory, kPlaces) || leads_to(directory, made.own);
}

Result<void> bring_entries(const ImageRoot& made, const std::string& directory) {
  if (std::ranges::find(kFresh, directory) != kFresh.end()) {
    return {};
  }
  const std::string from = made.image + directory;
  std::unique_ptr<DIR, CloseDirectory> entries(::opendir(from.c_str()));
  if (entries == nullptr) {
    // Below the top what we may not look into is empty.
    return errno == EACCES && !directory.empty() ? Result<void>()
                                                 : fail(posix_error(errno, "list " + from));
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    const std::string path = (directory == "/" ? "" : directory) + "/" + std::string(name);
    if (name != "." && name != ".." && std::ranges::find(kFresh, path) == kFresh.end() &&
        std::ranges::find(made.files, path) == made.files.end()) {
      TRY(bring_entry(made, path));
    }
  }
  return {};
}

Result<void> make_image_root(const ImageRoot& made) {
  if (!has_mounts_below(made.image)) {
    TRY_ASSIGN(const std::set<std::string> closed, make_upper(made));
    Result<void> overlaid = mount_overlay(
        made.root,
        {.lower = made.image, .upper = made.scratch + kUpper, .work = made.scratch + kWork});
    if (overlaid) {
      return cover_closed(made, closed);
    }
    if (!is_forbidden(overlaid.error())) {
      return overlaid;
    }
  }
  TRY(bind_directory_alone(made.root, made.root));  // what is pivoted into must be a mount
  return bring_entries(made, "");
}

}  // namespace codeflare::node::internal
