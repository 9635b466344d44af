#pragma once

#include "base/env/file_handle.h"
#include "base/env/file_system.h"

namespace codeflare::internal {

// No state of its own, so that any thread may use it.
class RealFileSystem final : public FileSystem, public FileHandles {
 public:
  using FileSystem::write;
  Result<std::string> read(const std::string& path, std::size_t bytes_max) override;
  Result<void> write(const std::string& path, std::string_view content,
                     WriteOptions options) override;
  Result<void> create(const std::string& path, std::uint32_t mode) override;
  Result<void> append(const std::string& path, std::string_view content) override;
  Result<void> sync(const std::string& path) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> make_directories(const std::string& path, std::uint32_t mode) override;
  Result<std::vector<std::string>> list(const std::string& path) override;
  Result<FileInfo> info(const std::string& path) override;
  bool exists(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;

  Result<std::unique_ptr<FileHandle>> open_to_read(const std::string& path) override;
  Result<std::unique_ptr<FileHandle>> open_new(const std::string& path,
                                               std::uint32_t mode) override;
  Result<void> sync_directory(const std::string& path) override;
  Result<DiskSpace> disk_space(const std::string& path) override;
};

}  // namespace codeflare::internal
