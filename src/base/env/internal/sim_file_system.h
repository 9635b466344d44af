#pragma once

#include "base/clock.h"
#include "base/env/file_handle.h"
#include "base/env/file_system.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace codeflare::internal {

// Files in memory, with absolute and relative paths both counted from "/". Keeps what a power cut
// would leave beside what is there now.
class SimFileSystem final : public FileSystem, public FileHandles {
 public:
  explicit SimFileSystem(const Clock& clock) : clock_(clock) {}

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

  // For open handles: the content under a key, or an error once the name is gone.
  Result<std::string*> content_of(const std::string& key);
  Result<void> sync_content(const std::string& key);

  void crash();

 private:
  struct Node {
    bool directory = false;
    std::uint32_t mode = 0;
    WallTime modified{};
    std::string content;
    // Content that survives a crash; nothing when the name itself was never synced.
    std::optional<std::string> synced;
    // False for a file that a handle made until its directory was synced.
    bool name_synced = true;
  };
  // Ordered by path; all that is below "a/b" has the prefix "a/b/".
  using Nodes = std::map<std::string, Node>;

  Node* find(const std::string& key);
  Result<Node*> find_file(std::string_view call, const std::string& path);
  Result<void> check_parent(std::string_view call, const std::string& path);
  Result<Node*> open_for_writing(const std::string& path, std::uint32_t mode);
  bool has_children(const std::string& key) const;
  Result<void> check_rename(const std::string& from, const std::string& to);

  const Clock& clock_;
  Nodes nodes_;
  std::set<std::string> locked_;
};

}  // namespace codeflare::internal
