#include "base/env/internal/sim_file_system.h"

#include <algorithm>
#include <utility>

namespace codeflare::internal {

namespace {

constexpr std::uint64_t kDiskBytes = std::uint64_t{1} << 40;

// Finds its file by name at each call: the simulated disk has no files without a name.
class SimFileHandle final : public FileHandle {
 public:
  SimFileHandle(SimFileSystem& files, std::string key) : files_(files), key_(std::move(key)) {}

  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override {
    TRY_ASSIGN(std::string * content, files_.content_of(key_));
    if (content->size() < offset + bytes.size()) {
      content->resize(offset + bytes.size(), '\0');
    }
    content->replace(offset, bytes.size(), bytes);
    return {};
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    TRY_ASSIGN(const std::string* content, files_.content_of(key_));
    if (offset >= content->size()) {
      return std::size_t{0};
    }
    return content->copy(into.data(), into.size(), offset);
  }

  Result<void> sync() override { return files_.sync_content(key_); }
  void begin_writing(std::uint64_t, std::uint64_t) override {}

 private:
  SimFileSystem& files_;
  std::string key_;
};

}  // namespace

Result<std::string*> SimFileSystem::content_of(const std::string& key) {
  TRY_ASSIGN(Node * node, find_file("use", key));
  return &node->content;
}

Result<void> SimFileSystem::sync_content(const std::string& key) {
  TRY_ASSIGN(Node * node, find_file("sync", key));
  node->synced = node->content;
  return {};
}

Result<std::unique_ptr<FileHandle>> SimFileSystem::open_to_read(const std::string& path) {
  TRY(find_file("open", path));
  return std::make_unique<SimFileHandle>(*this, path);
}

Result<std::unique_ptr<FileHandle>> SimFileSystem::open_new(const std::string& path,
                                                            std::uint32_t mode) {
  TRY(create(path, mode));
  TRY_ASSIGN(Node * node, find_file("open", path));
  node->name_synced = false;
  return std::make_unique<SimFileHandle>(*this, path);
}

Result<void> SimFileSystem::sync_directory(const std::string& path) {
  TRY_ASSIGN(const std::vector<std::string> names, list(path));
  for (const std::string& name : names) {
    Result<Node*> node = find_file("sync", join_path(path, name));
    if (node) {
      (*node)->name_synced = true;
      // A durable name whose content was never synced is an empty file after a crash.
      if (!(*node)->synced) {
        (*node)->synced.emplace();
      }
    }
  }
  return {};
}

Result<DiskSpace> SimFileSystem::disk_space(const std::string&) {
  std::uint64_t used = 0;
  for (const auto& [key, node] : nodes_) {
    used += node.content.size();
  }
  return DiskSpace{.total_bytes = kDiskBytes,
                   .free_bytes = kDiskBytes - std::min(used, kDiskBytes)};
}

}  // namespace codeflare::internal
