#include "base/env/internal/real_file_handle.h"

#include "base/posix.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace codeflare::internal {

namespace {

class RealFileHandle final : public FileHandle {
 public:
  RealFileHandle(FileDescriptor fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno != EINTR) {
        return fail(posix_error(errno, "write " + path_));
      }
      const auto count = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
      bytes.remove_prefix(count);
      offset += count;
    }
    return {};
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    while (true) {
      const ssize_t n = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
      if (n >= 0) {
        return static_cast<std::size_t>(n);
      }
      if (errno != EINTR) {
        return fail(posix_error(errno, "read " + path_));
      }
    }
  }

  Result<void> sync() override {
    if (::fdatasync(fd_.get()) != 0) {
      return fail(posix_error(errno, "sync " + path_));
    }
    return {};
  }

  void begin_writing(std::uint64_t offset, std::uint64_t size) override {
    // A hint: the errors of the disk come back from sync().
    static_cast<void>(::sync_file_range(fd_.get(), static_cast<off_t>(offset),
                                        static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE));
  }

 private:
  FileDescriptor fd_;
  std::string path_;
};

Result<FileDescriptor> open_descriptor(const std::string& path, int flags, std::uint32_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, static_cast<mode_t>(mode));
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return fail(posix_error(errno, "open " + path));
  }
  return FileDescriptor(fd);
}

}  // namespace

Result<std::unique_ptr<FileHandle>> open_real_file(const std::string& path, int flags,
                                                   std::uint32_t mode) {
  TRY_ASSIGN(FileDescriptor fd, open_descriptor(path, flags, mode));
  return std::make_unique<RealFileHandle>(std::move(fd), path);
}

Result<void> sync_real_directory(const std::string& path) {
  TRY_ASSIGN(const FileDescriptor fd, open_descriptor(path, O_RDONLY | O_DIRECTORY, 0));
  // Some file systems cannot sync directories and report that; nothing better can be done then.
  if (::fsync(fd.get()) != 0 && errno != EINVAL && errno != EROFS) {
    return fail(posix_error(errno, "sync " + path));
  }
  return {};
}

Result<DiskSpace> real_disk_space(const std::string& path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) {
    return fail(posix_error(errno, "free space of " + path));
  }
  return DiskSpace{.total_bytes = std::uint64_t{info.f_blocks} * info.f_frsize,
                   .free_bytes = std::uint64_t{info.f_bavail} * info.f_frsize};
}

}  // namespace codeflare::internal
