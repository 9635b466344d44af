#include "node/system/mounts.h"
#include "node/system/places.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <iterator>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

constexpr int kLinksMax = 40;  // the kernel's own bound
constexpr int kNameOnly = O_PATH | O_NOFOLLOW | O_CLOEXEC;
constexpr std::uint32_t kFileMode = 0644;

class Walk {
 public:
  Walk(std::string_view path, const PlaceOptions& options) : path_(path), options_(options) {}

  Result<FileDescriptor> from(int top) {
    way_.emplace_back(::fcntl(top, F_DUPFD_CLOEXEC, 3));
    if (!way_.back()) {
      return fail(posix_error(errno, "open " + path_));
    }
    TRY(add_parts(path_));
    while (!ahead_.empty()) {
      const std::string part = std::move(ahead_.back());
      ahead_.pop_back();
      TRY(part == ".." ? go_up() : enter(part));
    }
    return std::move(way_.back());
  }

 private:
  Error leads_out() const { return permission_denied(path_ + " leads out of its volume"); }

  // Before what is still ahead.
  Result<void> add_parts(std::string_view text) {
    if (text.size() >= PATH_MAX) {
      return fail(posix_error(ENAMETOOLONG, "open " + path_));
    }
    std::vector<std::string> parts;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('/'), text.size());
      if (const std::string_view part = text.substr(0, end); !part.empty() && part != ".") {
        parts.emplace_back(part);
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::ranges::reverse(parts);
    std::ranges::move(parts, std::back_inserter(ahead_));
    return {};
  }

  // By the way we came: what the kernel calls ".." may have been moved.
  Result<void> go_up() {
    if (way_.size() > 1) {
      way_.pop_back();
    } else if (options_.links == Links::inside) {
      return fail(leads_out());
    }
    return {};
  }

  Result<void> enter(const std::string& part) {
    const int here = way_.back().get();
    FileDescriptor next(::openat(here, part.c_str(), kNameOnly));
    if (!next && errno == ENOENT && options_.missing != Missing::refused) {
      TRY(make(here, part));
      next = FileDescriptor(::openat(here, part.c_str(), kNameOnly));
    }
    struct stat info{};
    if (!next || ::fstat(next.get(), &info) != 0) {
      return fail(posix_error(errno, "open " + path_));
    }
    if (S_ISLNK(info.st_mode)) {
      return follow(next.get());
    }
    way_.push_back(std::move(next));
    return {};
  }

  Result<void> make(int here, const std::string& part) const {
    const bool file = ahead_.empty() && options_.missing == Missing::made_file;
    // Neither follows a link, and neither opens: somebody may have put a pipe there.
    const int made = file ? ::mknodat(here, part.c_str(), S_IFREG | kFileMode, 0)
                          : ::mkdirat(here, part.c_str(), options_.mode);
    if (made != 0 && errno != EEXIST) {
      return fail(posix_error(errno, "make " + path_));
    }
    return {};
  }

  Result<void> follow(int link) {
    std::array<char, PATH_MAX> text{};
    const ssize_t size = ::readlinkat(link, "", text.data(), text.size());
    if (size <= 0 || ++links_ > kLinksMax) {
      return fail(posix_error(size < 0 ? errno : ELOOP, "follow links of " + path_));
    }
    const std::string_view to(text.data(), static_cast<std::size_t>(size));
    if (to.starts_with('/')) {
      if (options_.links == Links::inside) {
        return fail(leads_out());
      }
      way_.erase(way_.begin() + 1, way_.end());
    }
    return add_parts(to);
  }

  std::string path_;
  PlaceOptions options_;
  std::vector<FileDescriptor> way_;  // the top, and every directory since
  std::vector<std::string> ahead_;   // the next one last
  int links_ = 0;
};

// The kernel's errors for calls that it does not know, and those of filters for calls that are
// younger than the filter.
bool is_unknown(int error_number) {
  return error_number == ENOSYS || error_number == EPERM;
}

// Leads to what was opened, whatever stands at its path by now.
std::string name_of(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

Result<void> bind_by_name(int source, int target, const BindOptions& options) {
  // Elsewhere first: at its place the new mount has no name that is certain to lead to it.
  TRY(bind_limited(name_of(source), options.stage, {.read_only = options.read_only}));
  const bool bound = ::mount(options.stage.c_str(), name_of(target).c_str(), nullptr,
                             MS_BIND | MS_REC, nullptr) == 0;
  const int why = errno;
  ::umount2(options.stage.c_str(), MNT_DETACH);
  std::remove(options.stage.c_str());
  return bound ? Result<void>() : fail(posix_error(why, "mount"));
}

}  // namespace

Result<FileDescriptor> open_place(int top, std::string_view path, const PlaceOptions& options) {
  return Walk(path, options).from(top);
}

Result<FileDescriptor> open_top(const std::string& path) {
  FileDescriptor top(::open(path.c_str(), kNameOnly));
  struct stat info{};
  if (!top || ::fstat(top.get(), &info) != 0) {
    return fail(posix_error(errno, "open " + path));
  }
  if (S_ISLNK(info.st_mode)) {
    return fail(permission_denied(path + " is a link"));
  }
  return top;
}

Result<void> bind_descriptor(int source, int target, const BindOptions& options) {
  const FileDescriptor tree(
      ::open_tree(source, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!tree) {
    return is_unknown(errno) ? bind_by_name(source, target, options)
                             : fail(posix_error(errno, "open for a mount"));
  }
  mount_attr attributes = attributes_of({.read_only = options.read_only});
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                      sizeof attributes) != 0) {
    return is_unknown(errno) ? bind_by_name(source, target, options)
                             : fail(posix_error(errno, "limit a mount"));
  }
  if (::move_mount(tree.get(), "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) !=
      0) {
    return fail(posix_error(errno, "mount"));
  }
  return {};
}

}  // namespace codeflare::node
