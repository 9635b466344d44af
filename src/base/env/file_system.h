#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare {

struct FileInfo {
  enum class Type : std::uint8_t { file, directory, link, other };
  Type type = Type::file;
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  // permission bits
  WallTime modified{};
};

// Held until destroyed; at most one holder per path among all processes.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

// Whole-file operations; each may block, so call it through Blocking where the loop must not wait
// (the real one may be used from several threads). Errors name the path. After a power cut names
// (made, renamed, removed) are as the last finished call left them, content as it was last synced:
// by an atomic write or by sync(). The simulated one lives in memory and loses the rest at a crash.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::string> read(const std::string& path, std::size_t bytes_max = 64u << 20) = 0;
  struct WriteOptions {
    // Independent of the process's umask; secrets use 0600.
    std::uint32_t mode = 0644;
    // Write beside, sync, rename: readers see the old or the new content, also after a power cut. A
    // symbolic link stays one: the file it points to is replaced.
    bool atomic = true;
  };
  virtual Result<void> write(const std::string& path, std::string_view content,
                             WriteOptions options) = 0;
  Result<void> write(const std::string& path, std::string_view content) {
    return write(path, content, WriteOptions{});
  }
  // Makes an empty file; fails with already_exists when the name is taken, whoever took it: the
  // kind of lock that other programs know. Not synced.
  virtual Result<void> create(const std::string& path, std::uint32_t mode = 0600) = 0;
  // Makes the file when it is missing; not synced.
  virtual Result<void> append(const std::string& path, std::string_view content) = 0;
  // Waits until the file's content and name are on disk.
  virtual Result<void> sync(const std::string& path) = 0;
  // Not found is an error; a directory must be empty.
  virtual Result<void> remove(const std::string& path) = 0;
  // With all that is below; fine when it is not there. Links are removed, not followed.
  virtual Result<void> remove_all(const std::string& path) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  // Makes parents too, with the same mode; fine when it is there already.
  virtual Result<void> make_directories(const std::string& path, std::uint32_t mode = 0755) = 0;
  // Names only, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
  // Of a link itself, not of what it points to.
  virtual Result<FileInfo> info(const std::string& path) = 0;
  virtual bool exists(const std::string& path) = 0;
  // Fails with `failed_precondition` at once when another process holds it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
};

// "dir/name" from the parts; an absolute second part wins. The parent of "name" is ".".
std::string join_path(std::string_view directory, std::string_view name);
std::string parent_path(std::string_view path);

}  // namespace codeflare
