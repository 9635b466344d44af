#include "node/agent/disk_usage.h"

#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace codeflare::node {

namespace {

using std::filesystem::directory_iterator;
using std::filesystem::path;

constexpr std::int64_t kBlockBytes = 512;  // of st_blocks, whatever the file system has

// Blocks, not sizes: what was never written takes no room. Directories are left to be looked into.
std::int64_t bytes_of(const path& file, std::vector<path>& left) {
  struct stat info{};
  if (::lstat(file.c_str(), &info) != 0) {
    return 0;
  }
  if (S_ISDIR(info.st_mode)) {
    left.push_back(file);
  }
  return std::int64_t{info.st_blocks} * kBlockBytes;
}

// Its end when it is not there, or not any more: one that goes does not end the look at the rest.
directory_iterator entries_of(const path& directory) {
  std::error_code error;
  directory_iterator entries(directory, error);
  return error ? directory_iterator() : entries;
}

void pass(directory_iterator& entry) {
  std::error_code error;
  entry.increment(error);
  if (error) {
    entry = {};
  }
}

}  // namespace

struct DiskScan::State {
  std::vector<std::string> directories;
  std::vector<std::map<std::string, std::int64_t>> found{};
  directory_iterator top{};   // in the directory that is looked at
  std::string name{};         // the entry of it that is looked into
  std::vector<path> left{};   // directories in that
  directory_iterator file{};  // in one of those
};

DiskScan::DiskScan(std::vector<std::string> directories)
    : state_(std::make_unique<State>(std::move(directories))) {}

DiskScan::~DiskScan() = default;

bool DiskScan::go_on(std::size_t files) {
  State& at = *state_;
  const directory_iterator end;
  for (std::size_t seen = 0; seen < files; ++seen) {
    if (at.file != end) {
      at.found.back()[at.name] += bytes_of(at.file->path(), at.left);
      pass(at.file);
    } else if (!at.left.empty()) {
      at.file = entries_of(at.left.back());
      at.left.pop_back();
    } else if (at.top != end) {
      at.name = at.top->path().filename().string();
      at.found.back()[at.name] += bytes_of(at.top->path(), at.left);
      pass(at.top);
    } else if (at.found.size() < at.directories.size()) {
      at.top = entries_of(at.directories[at.found.size()]);
      at.found.emplace_back();
    } else {
      return true;
    }
  }
  return false;
}

const std::map<std::string, std::int64_t>& DiskScan::found(std::size_t directory) const {
  return state_->found.at(directory);
}

}  // namespace codeflare::node
