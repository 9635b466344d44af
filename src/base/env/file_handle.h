#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace codeflare {

// An open file. Every call may block; one thread at a time uses a handle. Errors name the path.
class FileHandle {
 public:
  virtual ~FileHandle() = default;
  // Writes all of the bytes; a gap before the offset reads as zeros. Fails with resource_exhausted
  // when the disk or the user's quota is full.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // As many bytes as there are, at most the span; 0 is the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  // Waits until the content is on disk. A new name needs sync_directory() as well.
  virtual Result<void> sync() = 0;
  // Asks the disk to begin writing these bytes, so that a later sync() is short. A hint.
  virtual void begin_writing(std::uint64_t offset, std::uint64_t size) = 0;
};

struct DiskSpace {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // for processes without privileges
};

// The part of a file system that opens files; real and simulated file systems implement it.
class FileHandles {
 public:
  virtual Result<std::unique_ptr<FileHandle>> open_to_read(const std::string& path) = 0;
  // Makes the file; fails with already_exists when the name is taken. Neither the content nor the
  // name survives a power cut before sync() and sync_directory().
  virtual Result<std::unique_ptr<FileHandle>> open_new(const std::string& path,
                                                       std::uint32_t mode) = 0;
  // Waits until the names in the directory are on disk.
  virtual Result<void> sync_directory(const std::string& path) = 0;
  virtual Result<DiskSpace> disk_space(const std::string& path) = 0;

 protected:
  ~FileHandles() = default;
};

// Fails with `unsupported` when the file system only has whole-file operations.
Result<FileHandles*> handles_of(FileSystem& files);

}  // namespace codeflare
