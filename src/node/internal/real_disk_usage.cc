#include "node/disk_usage.h"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

constexpr std::int64_t kBlockBytes = 512;  // of st_blocks, whatever the file system has

// Blocks, not sizes: what was never written takes no room. Directories are left to be looked into.
std::int64_t bytes_of(const std::filesystem::path& path, std::vector<std::filesystem::path>& left) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    return 0;
  }
  if (S_ISDIR(info.st_mode)) {
    left.push_back(path);
  }
  return std::int64_t{info.st_blocks} * kBlockBytes;
}

// One directory after the other: one that goes meanwhile does not end the look at the rest.
std::int64_t bytes_with_all_below(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> left;
  std::int64_t sum = bytes_of(path, left);
  while (!left.empty()) {
    const std::filesystem::path directory = std::move(left.back());
    left.pop_back();
    std::error_code error;
    std::filesystem::directory_iterator entry(directory, error);
    const std::filesystem::directory_iterator end;
    while (!error && entry != end) {
      sum += bytes_of(entry->path(), left);
      entry.increment(error);
    }
  }
  return sum;
}

}  // namespace

std::map<std::string, std::int64_t> disk_usage_below(const std::string& directory) {
  std::map<std::string, std::int64_t> usage;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  const std::filesystem::directory_iterator end;
  while (!error && entry != end) {
    usage[entry->path().filename().string()] = bytes_with_all_below(entry->path());
    entry.increment(error);
  }
  return usage;
}

}  // namespace codeflare::node
