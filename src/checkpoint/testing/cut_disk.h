#pragma once

#include "base/env/file_handle.h"
#include "base/env/file_system.h"
#include "base/env/random.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace codeflare::checkpoint {

// A simulated disk whose power goes at the n-th change: from then on every call fails. Writes
// without a sync are kept, torn or lost, as the random numbers say, when tear() is called; the
// world's crash_files() loses the rest. Also full on request.
class CutDisk final : public FileSystem, public FileHandles {
 public:
  CutDisk(FileSystem& files, Random& random);

  void cut_after(std::uint64_t changes) { changes_left_ = changes; }
  bool is_dead() const { return dead_; }
  std::uint64_t changes() const { return changes_; }
  void tear();  // before crash_files()
  void revive();
  void set_full(bool full) { full_ = full; }
  // A planted bug: files are not synced although they seem to be.
  void ignore_syncs() { ignore_syncs_ = true; }

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

  // For handles: fails when the power is gone, or goes with this change.
  Result<void> change(const std::string& path);
  Result<void> check_power(const std::string& path) const;
  Result<void> check_full(const std::string& path) const;
  bool begin_sync(const std::string& path);  // false: leave it out

 private:
  FileSystem& files_;
  FileHandles& handles_;
  Random& random_;
  std::uint64_t changes_ = 0;
  std::uint64_t changes_left_ = UINT64_MAX;
  bool dead_ = false;
  bool full_ = false;
  bool ignore_syncs_ = false;
  std::set<std::string> dirty_;  // files with bytes that were never synced
};

}  // namespace codeflare::checkpoint
