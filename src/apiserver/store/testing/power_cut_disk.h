#pragma once

#include "base/env/file_system.h"
#include "base/env/random.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3_vfs;

namespace codeflare::apiserver {

// A disk in memory that keeps apart what was synced and what was only written, for SQLite (as a
// VFS) and for our own files (as a FileSystem). At a power cut every 512-byte sector that was
// written but not synced is kept, lost or torn, as the seed says; names as FileSystem promises, and
// those that SQLite made when it synced the file.
class PowerCutDisk final : public FileSystem {
 public:
  explicit PowerCutDisk(std::uint64_t seed);
  ~PowerCutDisk() override;
  PowerCutDisk(const PowerCutDisk&) = delete;
  PowerCutDisk& operator=(const PowerCutDisk&) = delete;

  const std::string& vfs() const { return vfs_name_; }

  // The power goes at the n-th change from now; from then on every call fails.
  void cut_after(std::uint64_t changes) { changes_left_ = changes; }
  bool is_dead() const { return dead_; }
  // Loses what a cut loses; after that the disk works again.
  void restart();
  // As when only the process was killed: nothing is lost, not even what was never synced.
  void restart_process();

  // The next syncs fail, and what they should have synced is lost in a cut even if a later sync
  // succeeds: what Linux does.
  void fail_syncs(int count) { failing_syncs_ = count; }
  // One bit of what is on disk changes.
  void flip_bit(const std::string& path, std::uint64_t bit);
  // No file grows while it is full.
  void set_full(bool full) { full_ = full; }
  std::uint64_t syncs() const { return syncs_; }
  std::uint64_t changes() const { return changes_; }
  // The bytes that a cut now could lose.
  std::uint64_t unsynced_bytes() const;

  Result<std::string> read(const std::string& path, std::size_t bytes_max) override;
  using FileSystem::write;
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

  // For the VFS. Numbers are SQLite's result codes.
  struct File {
    struct Unsynced {
      std::uint64_t offset = 0;
      std::string data;
      std::optional<std::uint64_t> truncated_to{};
    };
    std::string content;  // what reads see
    std::string durable;
    std::vector<Unsynced> unsynced;  // from durable to content, in order
    std::vector<std::unique_ptr<char[]>> shared_memory;
  };
  using FilePtr = std::shared_ptr<File>;
  FilePtr find(const std::string& path) const;
  struct Opened {
    FilePtr file{};
    bool is_new = false;
  };
  int open_file(const std::string& path, bool create, Opened& opened);
  int write_file(File& file, std::uint64_t offset, std::string_view data);
  int truncate_file(File& file, std::uint64_t size);
  // The content, and the name only when asked: SQLite syncs the directory of files it has made.
  int sync_file(const std::string& path, const FilePtr& file, bool name_too);
  int delete_file(const std::string& path, bool durably);
  std::uint64_t random() { return next_random(); }

 private:
  // False when the power is gone.
  bool change();
  Result<void> check_power(const std::string& path) const;
  void apply(std::string& content, const File::Unsynced& write, bool may_lose);
  std::uint64_t next_random();

  std::uint64_t state_;
  std::string vfs_name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::map<std::string, FilePtr> names_;
  std::map<std::string, FilePtr> durable_names_;
  std::shared_ptr<std::set<std::string>> locks_ = std::make_shared<std::set<std::string>>();
  std::optional<std::uint64_t> changes_left_;
  bool dead_ = false;
  bool full_ = false;
  int failing_syncs_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t changes_ = 0;
};

// Makes SQLite see the disk under the name; in power_cut_vfs.cc.
std::unique_ptr<sqlite3_vfs> register_vfs(PowerCutDisk& disk, const std::string& name);
void unregister_vfs(sqlite3_vfs& vfs);

}  // namespace codeflare::apiserver
