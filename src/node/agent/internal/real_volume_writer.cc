#include "base/env/file_system.h"
#include "base/posix.h"
#include "node/agent/volume_writer.h"
#include "node/system/mounts.h"
#include "node/system/places.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

constexpr const char* kData = "..data";

Result<void> write_file(const std::string& path, const VolumeFile& file) {
  TRY(make_directory(parent_path(path)));
  FileDescriptor out(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!out) {
    return fail(posix_error(errno, "make " + path));
  }
  std::string_view rest = file.content;
  while (!rest.empty()) {
    const ssize_t size = ::write(out.get(), rest.data(), rest.size());
    if (size < 0 && errno != EINTR) {
      return fail(posix_error(errno, "write " + path));
    }
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  }
  if (::fchmod(out.get(), file.mode & 0777) != 0) {
    return fail(posix_error(errno, "set the mode of " + path));
  }
  return {};
}

std::string old_data(const std::string& directory) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size =
      ::readlink((directory + "/" + kData).c_str(), target.data(), target.size() - 1);
  return size > 0 ? std::string(target.data()) : std::string();
}

// The rest of an unfinished write: there is at most one of them.
void remove_failed(const std::string& directory, const std::string& current) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("..") && name != kData && name != current) {
      std::filesystem::remove_all(entry.path(), error);
    }
  }
}

class RealVolumeWriter final : public VolumeWriter {
 public:
  Result<void> write(const std::string& volume, const std::vector<VolumeFile>& files) override {
    TRY(make_directory(volume));
    // By descriptor from here on: should somebody put a link there, it leads us nowhere.
    TRY_ASSIGN(const FileDescriptor place, open_top(volume));
    Result<void> written = write_in("/proc/self/fd/" + std::to_string(place.get()), files);
    return written ? Result<void>() : fail(std::move(written).error().with_context(volume));
  }

  Result<void> link(const std::string& target, const std::string& path) override {
    return make_link(target, path);
  }

 private:
  static Result<void> write_in(const std::string& directory, const std::vector<VolumeFile>& files) {
    const std::string before = old_data(directory);
    remove_failed(directory, before);
    std::string fresh = directory + "/..XXXXXX";
    if (::mkdtemp(fresh.data()) == nullptr) {
      return fail(posix_error(errno, "make a directory in " + directory));
    }
    ::chmod(fresh.c_str(), 0755);
    std::set<std::string> tops;
    for (const VolumeFile& file : files) {
      TRY(write_file(fresh + "/" + file.path, file));
      tops.insert(file.path.substr(0, file.path.find('/')));
    }
    const std::string link = directory + "/" + kData;
    const std::string beside = link + "_tmp";
    ::unlink(beside.c_str());
    TRY(make_link(fresh.substr(directory.size() + 1), beside));
    if (::rename(beside.c_str(), link.c_str()) != 0) {
      return fail(posix_error(errno, "swap " + link));
    }
    for (const std::string& top : tops) {
      TRY(make_link(std::string(kData) + "/" + top, directory + "/" + top));
    }
    return remove_rest(directory, before, tops);
  }

  // Names that are not projected any more, and the files before these.
  static Result<void> remove_rest(const std::string& directory, const std::string& before,
                                  const std::set<std::string>& tops) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("..") && !tops.contains(name)) {
        ::unlink(entry.path().c_str());
      }
    }
    if (!before.empty()) {
      std::filesystem::remove_all(directory + "/" + before, error);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<VolumeWriter> make_volume_writer() {
  return std::make_unique<RealVolumeWriter>();
}

}  // namespace codeflare::node
