#include "base/env/internal/real_file_system.h"

#include "base/env/internal/real_file_handle.h"
#include "base/env/internal/real_file_info.h"
#include "base/env/internal/real_remove_tree.h"
#include "base/posix.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace codeflare::internal {

namespace {

std::unexpected<Error> errno_failure(std::string_view call, const std::string& path) {
  return fail(posix_error(errno, std::string(call) + " " + path));
}

Result<FileDescriptor> open_file(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return errno_failure("open", path);
  }
  return FileDescriptor(fd);
}

Result<void> write_all(const FileDescriptor& fd, std::string_view content,
                       const std::string& path) {
  while (!content.empty()) {
    ssize_t n = ::write(fd.get(), content.data(), content.size());
    if (n < 0 && errno != EINTR) {
      return errno_failure("write", path);
    }
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  }
  return {};
}

Result<void> sync_file(const FileDescriptor& fd, const std::string& path) {
  if (::fsync(fd.get()) != 0) {
    return errno_failure("sync", path);
  }
  return {};
}

// A name is durable once its directory is.
Result<void> sync_directory_of(const std::string& path) {
  std::string directory = parent_path(path);
  TRY_ASSIGN(FileDescriptor fd, open_file(directory, O_RDONLY | O_DIRECTORY));
  // Some file systems cannot sync directories and say so; there is nothing better to do then.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return errno_failure("sync", directory);
  }
  return {};
}

// Where a symbolic link leads, so that replacing the file leaves the link alone.
std::string resolve_link(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) {
    return path;
  }
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

// A name beside `path` that no other process or thread uses.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> counter = 0;
  std::string name = path.substr(path.rfind('/') + 1);
  return join_path(parent_path(path), "." + name + "." + std::to_string(::getpid()) + "." +
                                          std::to_string(++counter) + ".tmp");
}

Result<void> fill_new_file(const std::string& path, std::string_view content, mode_t mode) {
  // A left-over of a killed process that had the same id.
  ::unlink(path.c_str());
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  if (::fchmod(fd.get(), mode) != 0) {
    return errno_failure("set mode of", path);
  }
  TRY(write_all(fd, content, path));
  return sync_file(fd, path);
}

Result<void> write_atomically(const std::string& path, std::string_view content, mode_t mode) {
  std::string temporary = temporary_name(path);
  Result<void> written = fill_new_file(temporary, content, mode);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = errno_failure("rename to", path);
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return fail(std::move(written).error().with_context("write " + path));
  }
  return sync_directory_of(path);
}

class RealFileLock final : public FileLock {
 public:
  explicit RealFileLock(FileDescriptor fd) : fd_(std::move(fd)) {}

 private:
  FileDescriptor fd_;
};

}  // namespace

Result<std::string> RealFileSystem::read(const std::string& path, std::size_t bytes_max) {
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_RDONLY));
  std::string content;
  struct stat info{};
  // The size is a hint only: files under /proc say 0.
  if (::fstat(fd.get(), &info) == 0 && info.st_size > 0) {
    content.reserve(std::min(static_cast<std::size_t>(info.st_size), bytes_max));
  }
  std::array<char, 1 << 16> buffer;
  while (true) {
    ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      return errno_failure("read", path);
    }
    if (n == 0) {
      return content;
    }
    content.append(buffer.data(), static_cast<std::size_t>(n));
    if (content.size() > bytes_max) {
      return fail(too_large("read " + path + ": larger than the limit of " +
                            std::to_string(bytes_max) + " bytes"));
    }
  }
}

Result<void> RealFileSystem::write(const std::string& path, std::string_view content,
                                   WriteOptions options) {
  if (options.atomic) {
    return write_atomically(resolve_link(path), content, options.mode);
  }
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_WRONLY | O_CREAT, options.mode & 0600));
  // First the mode, then the content: a secret is at no time readable by others.
  if (::fchmod(fd.get(), options.mode) != 0) {
    return errno_failure("set mode of", path);
  }
  if (::ftruncate(fd.get(), 0) != 0) {
    return errno_failure("truncate", path);
  }
  return write_all(fd, content, path);
}

Result<void> RealFileSystem::create(const std::string& path, std::uint32_t mode) {
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_WRONLY | O_CREAT | O_EXCL, mode & 0600));
  if (::fchmod(fd.get(), mode) != 0) {
    return errno_failure("set mode of", path);
  }
  return {};
}

Result<void> RealFileSystem::append(const std::string& path, std::string_view content) {
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0644));
  return write_all(fd, content, path);
}

Result<void> RealFileSystem::sync(const std::string& path) {
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_RDONLY));
  TRY(sync_file(fd, path));
  return sync_directory_of(path);
}

Result<void> RealFileSystem::remove(const std::string& path) {
  if (::remove(path.c_str()) != 0) {
    return errno_failure("remove", path);
  }
  return sync_directory_of(path);
}

Result<void> RealFileSystem::remove_all(const std::string& path) {
  TRY_ASSIGN(const bool removed, remove_tree(path));
  return removed ? sync_directory_of(path) : Result<void>();
}

Result<void> RealFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return errno_failure("rename " + from + " to", to);
  }
  TRY(sync_directory_of(to));
  return parent_path(from) == parent_path(to) ? Result<void>() : sync_directory_of(from);
}

Result<void> RealFileSystem::make_directories(const std::string& path, std::uint32_t mode) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) {
      return fail(posix_error(ENOTDIR, "make directory " + path));
    }
    return {};
  }
  std::string parent = parent_path(path);
  if (parent != path && parent != ".") {
    TRY(make_directories(parent, mode));
  }
  if (::mkdir(path.c_str(), mode) != 0) {
    // Another process may have been faster.
    if (errno == EEXIST && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
      return {};
    }
    return errno_failure("make directory", path);
  }
  if (::chmod(path.c_str(), mode) != 0) {
    return errno_failure("set mode of", path);
  }
  return sync_directory_of(path);
}

Result<std::vector<std::string>> RealFileSystem::list(const std::string& path) {
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  std::vector<std::string> names;
  while (!error && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  if (error) {
    return fail(posix_error(error.value(), "list " + path));
  }
  std::ranges::sort(names);
  return names;
}

Result<FileInfo> RealFileSystem::info(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    return errno_failure("stat", path);
  }
  return file_info_of(status);
}

bool RealFileSystem::exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<std::unique_ptr<FileLock>> RealFileSystem::lock(const std::string& path) {
  TRY_ASSIGN(FileDescriptor fd, open_file(path, O_RDWR | O_CREAT, 0600));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return errno_failure("lock", path);
    }
    // The holder writes its process id into the file, for this message alone.
    std::string holder = read(path, 64).value_or("");
    return fail(failed_precondition(path + " is locked by another process" +
                                    (holder.empty() ? "" : " (process " + holder + ")")));
  }
  // It is held whether there is room to say by whom or not.
  if (::ftruncate(fd.get(), 0) == 0) {
    static_cast<void>(write_all(fd, std::to_string(::getpid()), path));
  }
  return std::make_unique<RealFileLock>(std::move(fd));
}

Result<std::unique_ptr<FileHandle>> RealFileSystem::open_to_read(const std::string& path) {
  return open_real_file(path, O_RDONLY, 0);
}

Result<std::unique_ptr<FileHandle>> RealFileSystem::open_new(const std::string& path,
                                                             std::uint32_t mode) {
  return open_real_file(path, O_RDWR | O_CREAT | O_EXCL, mode);
}

Result<void> RealFileSystem::sync_directory(const std::string& path) {
  return sync_real_directory(path);
}

Result<DiskSpace> RealFileSystem::disk_space(const std::string& path) {
  return real_disk_space(path);
}

}  // namespace codeflare::internal
