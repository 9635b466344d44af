#include "base/env/internal/sim_file_system.h"

#include <filesystem>
#include <utility>

namespace codeflare::internal {

namespace {

// "" is the root; every other key is "/a/b".
std::string key_of(const std::string& path) {
  std::string key = (std::filesystem::path("/") / path).lexically_normal().string();
  while (key.ends_with('/')) {
    key.pop_back();
  }
  return key;
}

std::string parent_key(const std::string& key) {
  return key.substr(0, key.rfind('/'));
}

std::unexpected<Error> failure(ErrorCode code, std::string_view call, const std::string& path,
                               std::string_view reason) {
  return fail(Error(code, std::string(call) + " " + path + ": " + std::string(reason)));
}

class SimFileLock final : public FileLock {
 public:
  SimFileLock(std::set<std::string>& locked, std::string key)
      : locked_(locked), key_(std::move(key)) {
    locked_.insert(key_);
  }
  ~SimFileLock() override { locked_.erase(key_); }

 private:
  std::set<std::string>& locked_;
  std::string key_;
};

}  // namespace

SimFileSystem::Node* SimFileSystem::find(const std::string& key) {
  auto it = nodes_.find(key);
  return it == nodes_.end() ? nullptr : &it->second;
}

Result<SimFileSystem::Node*> SimFileSystem::find_file(std::string_view call,
                                                      const std::string& path) {
  std::string key = key_of(path);
  Node* node = find(key);
  if (key.empty() || (node != nullptr && node->directory)) {
    return failure(ErrorCode::failed_precondition, call, path, "is a directory");
  }
  if (node == nullptr) {
    return failure(ErrorCode::not_found, call, path, "no such file or directory");
  }
  return node;
}

Result<void> SimFileSystem::check_parent(std::string_view call, const std::string& path) {
  std::string parent = parent_key(key_of(path));
  Node* node = find(parent);
  if (!parent.empty() && node == nullptr) {
    return failure(ErrorCode::not_found, call, path, "no such file or directory");
  }
  if (!parent.empty() && !node->directory) {
    return failure(ErrorCode::failed_precondition, call, path, "not a directory");
  }
  return {};
}

Result<SimFileSystem::Node*> SimFileSystem::open_for_writing(const std::string& path,
                                                             std::uint32_t mode) {
  TRY(check_parent("open", path));
  std::string key = key_of(path);
  Node* existing = find(key);
  if (key.empty() || (existing != nullptr && existing->directory)) {
    return failure(ErrorCode::failed_precondition, "open", path, "is a directory");
  }
  auto [it, created] = nodes_.try_emplace(key);
  if (created) {
    it->second.mode = mode;
  }
  it->second.modified = clock_.wall();
  return &it->second;
}

Result<std::string> SimFileSystem::read(const std::string& path, std::size_t bytes_max) {
  TRY_ASSIGN(Node * node, find_file("open", path));
  if (node->content.size() > bytes_max) {
    return fail(too_large("read " + path + ": larger than the limit of " +
                          std::to_string(bytes_max) + " bytes"));
  }
  return node->content;
}

Result<void> SimFileSystem::write(const std::string& path, std::string_view content,
                                  WriteOptions options) {
  TRY_ASSIGN(Node * node, open_for_writing(path, options.mode));
  node->mode = options.mode;
  node->content = content;
  if (options.atomic) {
    node->synced = node->content;
    node->name_synced = true;
  }
  return {};
}

Result<void> SimFileSystem::create(const std::string& path, std::uint32_t mode) {
  if (std::string key = key_of(path); key.empty() || find(key) != nullptr) {
    return failure(ErrorCode::already_exists, "open", path, "file exists");
  }
  TRY(open_for_writing(path, mode));
  return {};
}

Result<void> SimFileSystem::append(const std::string& path, std::string_view content) {
  TRY_ASSIGN(Node * node, open_for_writing(path, 0644));
  node->content += content;
  return {};
}

Result<void> SimFileSystem::sync(const std::string& path) {
  TRY_ASSIGN(Node * node, find_file("sync", path));
  node->synced = node->content;
  node->name_synced = true;
  return {};
}

bool SimFileSystem::has_children(const std::string& key) const {
  auto it = nodes_.lower_bound(key + "/");
  return it != nodes_.end() && it->first.starts_with(key + "/");
}

Result<void> SimFileSystem::remove(const std::string& path) {
  std::string key = key_of(path);
  if (find(key) == nullptr) {
    return failure(ErrorCode::not_found, "remove", path, "no such file or directory");
  }
  if (has_children(key)) {
    return failure(ErrorCode::failed_precondition, "remove", path, "directory not empty");
  }
  nodes_.erase(key);
  return {};
}

Result<void> SimFileSystem::remove_all(const std::string& path) {
  std::string key = key_of(path);
  nodes_.erase(key);
  std::erase_if(nodes_, [&](const auto& entry) { return entry.first.starts_with(key + "/"); });
  return {};
}

Result<void> SimFileSystem::check_rename(const std::string& from, const std::string& to) {
  std::string call = "rename " + from + " to";
  Node* source = find(key_of(from));
  Node* target = find(key_of(to));
  if (source == nullptr) {
    return failure(ErrorCode::not_found, call, to, "no such file or directory");
  }
  TRY(check_parent(call, to));
  if ((key_of(to) + "/").starts_with(key_of(from) + "/") && source->directory && source != target) {
    return failure(ErrorCode::invalid_argument, call, to, "invalid argument");
  }
  if (target != nullptr && target->directory != source->directory) {
    return failure(ErrorCode::failed_precondition, call, to,
                   target->directory ? "is a directory" : "not a directory");
  }
  if (target != nullptr && target != source && has_children(key_of(to))) {
    return failure(ErrorCode::failed_precondition, call, to, "directory not empty");
  }
  return {};
}

Result<void> SimFileSystem::rename(const std::string& from, const std::string& to) {
  TRY(check_rename(from, to));
  std::string source = key_of(from);
  std::string target = key_of(to);
  if (source == target) {
    return {};
  }
  Nodes moved;
  for (auto it = nodes_.lower_bound(source); it != nodes_.end();) {
    if (it->first == source || it->first.starts_with(source + "/")) {
      moved.emplace(target + it->first.substr(source.size()), std::move(it->second));
      it = nodes_.erase(it);
    } else if (it->first.starts_with(source)) {
      ++it;  // a neighbour such as "a-b" beside "a"
    } else {
      break;
    }
  }
  // The name is durable now, content that was never synced is not: the file is empty after a crash,
  // as on a real disk.
  if (Node& node = moved.at(target); !node.synced) {
    node.synced.emplace();
  }
  moved.at(target).name_synced = true;
  for (auto& [key, node] : moved) {
    nodes_.insert_or_assign(key, std::move(node));
  }
  return {};
}

Result<void> SimFileSystem::make_directories(const std::string& path, std::uint32_t mode) {
  std::string key = key_of(path);
  for (std::size_t slash = 0; slash != std::string::npos && !key.empty();) {
    slash = key.find('/', slash + 1);
    auto [it, created] = nodes_.try_emplace(key.substr(0, slash));
    if (created) {
      it->second.directory = true;
      it->second.mode = mode;
      it->second.modified = clock_.wall();
    } else if (!it->second.directory) {
      return failure(ErrorCode::failed_precondition, "make directory", path, "not a directory");
    }
  }
  return {};
}

Result<std::vector<std::string>> SimFileSystem::list(const std::string& path) {
  std::string key = key_of(path);
  Node* node = find(key);
  if (!key.empty() && node == nullptr) {
    return failure(ErrorCode::not_found, "list", path, "no such file or directory");
  }
  if (!key.empty() && !node->directory) {
    return failure(ErrorCode::failed_precondition, "list", path, "not a directory");
  }
  std::string prefix = key + "/";
  std::set<std::string> names;
  for (auto it = nodes_.lower_bound(prefix); it != nodes_.end() && it->first.starts_with(prefix);
       ++it) {
    std::string rest = it->first.substr(prefix.size());
    if (!rest.contains('/')) {
      names.insert(std::move(rest));
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

Result<FileInfo> SimFileSystem::info(const std::string& path) {
  std::string key = key_of(path);
  if (key.empty()) {
    return FileInfo{.type = FileInfo::Type::directory, .mode = 0755, .modified = {}};
  }
  Node* node = find(key);
  if (node == nullptr) {
    return failure(ErrorCode::not_found, "stat", path, "no such file or directory");
  }
  return FileInfo{.type = node->directory ? FileInfo::Type::directory : FileInfo::Type::file,
                  .size = node->content.size(),
                  .mode = node->mode,
                  .modified = node->modified};
}

bool SimFileSystem::exists(const std::string& path) {
  std::string key = key_of(path);
  return key.empty() || find(key) != nullptr;
}

Result<std::unique_ptr<FileLock>> SimFileSystem::lock(const std::string& path) {
  std::string key = key_of(path);
  if (locked_.contains(key)) {
    return fail(failed_precondition(path + " is locked by another process"));
  }
  TRY(open_for_writing(path, 0600));
  return std::make_unique<SimFileLock>(locked_, std::move(key));
}

void SimFileSystem::crash() {
  std::erase_if(nodes_, [](const auto& entry) {
    const Node& node = entry.second;
    return !node.directory && (!node.synced || !node.name_synced);
  });
  for (auto& [key, node] : nodes_) {
    if (!node.directory) {
      node.content = *node.synced;
    }
  }
}

}  // namespace codeflare::internal
