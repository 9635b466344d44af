#include "node/keeper/internal/real_log_file.h"

#include "node/system/mounts.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::string LogFile::path(std::uint32_t sequence) const {
  return directory_ + "/" + std::to_string(attempt_) + "." + std::to_string(sequence) + ".log";
}

bool LogFile::open_next() {
  if (next_ == 0 && !make_directory(directory_, 0700)) {
    return false;
  }
  FileDescriptor file(::open(path(next_).c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600));
  if (!file) {
    return false;
  }
  file_ = std::move(file);
  size_ = 0;
  if (next_ >= limits_.files_max) {
    ::unlink(path(next_ - limits_.files_max).c_str());
  }
  ++next_;
  return true;
}

void LogFile::write(std::string_view lines) {
  while (!lines.empty()) {
    if ((!file_ || size_ >= limits_.bytes_max) && !open_next() && !file_) {
      return;
    }
    // Up to the limit, but never a part of a line.
    std::size_t size = lines.size();
    const std::uint64_t room = limits_.bytes_max > size_ ? limits_.bytes_max - size_ : 0;
    if (size > room) {
      const std::size_t end = lines.find('\n', static_cast<std::size_t>(room));
      size = end == std::string_view::npos ? size : end + 1;
    }
    std::string_view part = lines.substr(0, size);
    lines.remove_prefix(size);
    size_ += size;
    while (!part.empty()) {
      const ssize_t written = ::write(file_.get(), part.data(), part.size());
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        break;
      }
      part.remove_prefix(static_cast<std::size_t>(written));
    }
  }
}

void remove_old_logs(const std::string& directory, std::int32_t attempt) {
  std::unique_ptr<DIR, CloseDirectory> open(::opendir(directory.c_str()));
  while (const dirent* entry = open == nullptr ? nullptr : ::readdir(open.get())) {
    std::int32_t of = 0;
    const char* name = entry->d_name;
    const auto [end, error] = std::from_chars(name, name + std::strlen(name), of);
    if (error == std::errc() && *end == '.' && of < attempt) {
      ::unlink((directory + "/" + name).c_str());
    }
  }
}

}  // namespace codeflare::node::internal
