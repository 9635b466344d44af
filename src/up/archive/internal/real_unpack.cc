#include "base/posix.h"
#include "up/archive/load_image.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace codeflare::up {

namespace {

class RealSource final : public ByteSource {
 public:
  RealSource(int fd, std::uint64_t offset, std::uint64_t size)
      : fd_(fd), offset_(offset), left_(size) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t wanted = std::min<std::uint64_t>(into.size(), left_);
    while (wanted > 0) {
      const ssize_t count = ::pread(fd_, into.data(), wanted, static_cast<off_t>(offset_));
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        return fail(posix_error(errno, "read image archive"));
      }
      offset_ += static_cast<std::uint64_t>(count);
      left_ -= static_cast<std::uint64_t>(count);
      return static_cast<std::size_t>(count);
    }
    return std::size_t{0};
  }

 private:
  int fd_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

class RealArchive final : public ArchiveFile {
 public:
  RealArchive(FileDescriptor fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}
  Result<std::unique_ptr<ByteSource>> open(std::uint64_t offset, std::uint64_t size) override {
    return std::make_unique<RealSource>(fd_.get(), offset, size);
  }
  std::uint64_t size() const override { return size_; }

 private:
  FileDescriptor fd_;
  std::uint64_t size_;
};

// Every name is new, and no link exists before the last file is written: nothing is followed.
class RealTreeWriter final : public TreeWriter {
 public:
  RealTreeWriter(FileDescriptor root, std::string at)
      : root_(std::move(root)), at_(std::move(at)) {}

  Result<void> directory(const std::string& path) override {
    return done(::mkdirat(root_.get(), path.c_str(), 0700), "make", path);
  }
  Result<void> file(const std::string& path, std::uint32_t mode) override {
    // The owner can read and replace it, whatever the image says.
    file_ = FileDescriptor(::openat(root_.get(), path.c_str(),
                                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    TRY(done(file_ ? 0 : -1, "make", path));
    path_ = path;
    return done(::fchmod(file_.get(), (mode & 0777) | 0600), "set mode of", path);
  }
  Result<void> append(std::span<const char> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      TRY(done(count < 0 ? -1 : 0, "write", path_));
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
  }
  Result<void> hard_link(const std::string& existing, const std::string& path) override {
    return done(::linkat(root_.get(), existing.c_str(), root_.get(), path.c_str(), 0), "link",
                path);
  }
  Result<void> symlink(const std::string& target, const std::string& path) override {
    return done(::symlinkat(target.c_str(), root_.get(), path.c_str()), "link", path);
  }
  Result<void> mode(const std::string& path, std::uint32_t mode) override {
    return done(::fchmodat(root_.get(), path.c_str(), (mode & 01777) | 0700, 0), "set mode of",
                path);
  }

 private:
  Result<void> done(int result, const char* what, const std::string& path) const {
    if (result < 0) {
      return fail(posix_error(errno, std::string(what) + " " + at_ + "/" + path));
    }
    return {};
  }

  FileDescriptor root_;
  std::string at_;
  FileDescriptor file_;
  std::string path_;
};

class RealPlace final : public UnpackPlace {
 public:
  Result<std::unique_ptr<ArchiveFile>> open(const std::string& path) override {
    FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!fd || ::fstat(fd.get(), &about) != 0) {
      return fail(posix_error(errno, "open " + path));
    }
    if (!S_ISREG(about.st_mode)) {
      return fail(invalid_argument(path + " is not a file"));
    }
    return std::make_unique<RealArchive>(std::move(fd), static_cast<std::uint64_t>(about.st_size));
  }
  Result<std::unique_ptr<TreeWriter>> write_to(const std::string& directory) override {
    if (::mkdir(directory.c_str(), 0755) != 0) {
      return fail(posix_error(errno, "make " + directory));
    }
    FileDescriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!root) {
      return fail(posix_error(errno, "open " + directory));
    }
    return std::make_unique<RealTreeWriter>(std::move(root), directory);
  }
};

}  // namespace

std::unique_ptr<UnpackPlace> real_unpack_place() {
  return std::make_unique<RealPlace>();
}

}  // namespace codeflare::up
