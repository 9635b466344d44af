#include "base/env/internal/real_remove_tree.h"

#include "base/posix.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::internal {

namespace {

// Each level has a descriptor open.
constexpr int kDepthMax = 32;
constexpr int kNamesTriedMax = 1000;
// Rounds in which all that is listed is not there any more: somebody else may be removing the same,
// but a file system may also list what it does not have.
constexpr int kIdleRoundsMax = 100;
constexpr mode_t kOwnerMay = 0700;

struct Entry {
  std::string name;
  bool directory = false;  // as far as is known
};

// One buffer full; none when there is nothing left.
Result<std::vector<Entry>> some_entries(int directory) {
  alignas(dirent64) std::array<std::byte, 1 << 15> buffer;
  std::vector<Entry> entries;
  if (::lseek(directory, 0, SEEK_SET) < 0) {
    return fail(posix_error(errno, "list a directory"));
  }
  while (entries.empty()) {
    const ssize_t size = ::getdents64(directory, buffer.data(), buffer.size());
    if (size < 0 && errno != ENOENT) {
      return fail(posix_error(errno, "list a directory"));
    }
    if (size <= 0) {
      break;  // the end, or the directory itself is gone
    }
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      const std::string_view name(entry->d_name);
      if (name != "." && name != "..") {
        entries.push_back({std::string(name), entry->d_type == DT_DIR});
      }
      at += entry->d_reclen;
    }
  }
  return entries;
}

// With all that removing its entries needs. Not of what a link leads to.
Result<FileDescriptor> open_directory(int parent, const std::string& name) {
  FileDescriptor opened(
      ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened && errno == EACCES) {
    // By a descriptor, so that it is the directory and not what stands there by now.
    const FileDescriptor place(
        ::openat(parent, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const std::string same = "/proc/self/fd/" + std::to_string(place.get());
    if (place && ::chmod(same.c_str(), kOwnerMay) == 0) {
      opened = FileDescriptor(::open(same.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    } else if (place || errno != ENOENT) {
      errno = EACCES;
    }
  }
  if (!opened) {
    return fail(posix_error(errno, "open " + name));
  }
  struct stat info{};
  if (::fstat(opened.get(), &info) == 0 && (info.st_mode & kOwnerMay) != kOwnerMay) {
    // Where that is not ours to do, what follows says so.
    static_cast<void>(::fchmod(opened.get(), (info.st_mode & 07777) | kOwnerMay));
  }
  return opened;
}

class TreeRemover {
 public:
  explicit TreeRemover(int top) : top_(top) {}

  Result<void> clear() { return clear(top_, 0); }

 private:
  Result<void> clear(int directory, int depth) {
    for (int idle = 0; idle < kIdleRoundsMax; ++idle) {
      TRY_ASSIGN(const std::vector<Entry> entries, some_entries(directory));
      if (entries.empty()) {
        return {};
      }
      for (const Entry& entry : entries) {
        TRY_ASSIGN(const bool removed, remove(directory, entry, depth));
        idle = removed ? -1 : idle;
      }
    }
    return fail(unavailable("what is listed in a directory is not there"));
  }

  // False when it was not there any more.
  Result<bool> remove(int directory, const Entry& entry, int depth) {
    if (!entry.directory) {
      Result<bool> removed = unlink(directory, entry.name, 0);
      if (removed || errno != EISDIR) {
        return removed;
      }
    }
    Result<bool> removed = unlink(directory, entry.name, AT_REMOVEDIR);
    if (removed || (errno != ENOTEMPTY && errno != EEXIST)) {
      return removed;
    }
    const Result<FileDescriptor> below = open_directory(directory, entry.name);
    if (!below) {
      return below.error().code == ErrorCode::not_found ? Result<bool>(false) : fail(below.error());
    }
    if (depth + 1 == kDepthMax) {
      return bring_up(directory, entry.name);
    }
    TRY(clear(below->get(), depth + 1));
    return unlink(directory, entry.name, AT_REMOVEDIR);
  }

  // False likewise; errno says more of an error.
  static Result<bool> unlink(int directory, const std::string& name, int flags) {
    if (::unlinkat(directory, name.c_str(), flags) == 0) {
      return true;
    }
    const int why = errno;
    Result<bool> result = false;
    if (why != ENOENT) {
      result = fail(posix_error(why, "remove " + name));
    }
    errno = why;
    return result;
  }

  // Entries that lie too deep move to the top, where the loop finds them again.
  Result<bool> bring_up(int directory, const std::string& name) {
    for (int i = 0; i < kNamesTriedMax; ++i) {
      const std::string fresh = ".deep-" + std::to_string(++moved_);
      if (::renameat(directory, name.c_str(), top_, fresh.c_str()) == 0) {
        return true;
      }
      if (errno == ENOENT) {
        return false;
      }
      if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
        break;
      }
    }
    return fail(posix_error(errno, "move " + name));
  }

  int top_;
  unsigned moved_ = 0;
};

}  // namespace

Result<bool> remove_tree(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    // A name below a file is not there either.
    return errno == ENOENT || errno == ENOTDIR ? Result<bool>(false)
                                               : fail(posix_error(errno, "remove " + path));
  }
  if (!S_ISDIR(info.st_mode)) {
    const bool removed = ::unlink(path.c_str()) == 0;
    return removed || errno == ENOENT ? Result<bool>(removed)
                                      : fail(posix_error(errno, "remove " + path));
  }
  if (::rmdir(path.c_str()) == 0) {
    return true;
  }
  const Result<FileDescriptor> top = open_directory(AT_FDCWD, path);
  if (!top && top.error().code == ErrorCode::not_found) {
    return false;
  }
  Result<void> cleared = top ? TreeRemover(top->get()).clear() : fail(top.error());
  if (!cleared) {
    return fail(std::move(cleared).error().with_context("remove " + path));
  }
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) {
    return fail(posix_error(errno, "remove " + path));
  }
  return true;
}

}  // namespace codeflare::internal
