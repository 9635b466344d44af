#include "node/keeper/internal/real_process_tree.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <vector>

namespace codeflare::node::internal {

namespace {

constexpr std::int64_t kBytesOfInode = 1024;  // about
constexpr int kRoundsMax = 1000;
constexpr long kPauseNs = 1'000'000;  // the dead take a moment

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// "12 (name with ) in it) S 1 ..."
bool read_process(const char* name, ProcessTable::Process& process) {
  std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen((std::string("/proc/") + name + "/stat").c_str(), "re"));
  char text[512] = {};
  if (file == nullptr || std::fread(text, 1, sizeof text - 1, file.get()) == 0) {
    return false;
  }
  const char* end = std::strrchr(text, ')');
  return end != nullptr && std::sscanf(end + 1, " %c %d", &process.state, &process.parent) == 2;
}

std::string read_text(const std::string& path) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "re"));
  char text[2048] = {};
  const std::size_t size = file == nullptr ? 0 : std::fread(text, 1, sizeof text - 1, file.get());
  return std::string(text, size);
}

// "total resident shared ..." in pages.
std::int64_t resident_bytes(pid_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/statm");
  long long total = 0;
  long long resident = 0;
  if (std::sscanf(text.c_str(), "%lld %lld", &total, &resident) != 2) {
    return 0;
  }
  return resident * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

std::int64_t kilobytes_in(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  long long kilobytes = 0;
  if (at == std::string::npos ||
      std::sscanf(text.c_str() + at + name.size(), "%lld", &kilobytes) != 1) {
    return -1;
  }
  return kilobytes;
}

// Shared memory counts in parts; `all` is -1 when the kernel does not say. Costs much more than the
// above.
struct Proportional {
  std::int64_t all = -1;
  std::int64_t of_files = 0;  // in memory, mapped
};
Proportional proportional_bytes(pid_t pid) {
  const std::string text = read_text("/proc/" + std::to_string(pid) + "/smaps_rollup");
  const std::int64_t all = kilobytes_in(text, "\nPss:");
  if (all < 0) {
    return {};
  }
  return {.all = all * 1024,
          .of_files = std::max<std::int64_t>(kilobytes_in(text, "\nPss_Shmem:"), 0) * 1024};
}

}  // namespace

ProcessTable::ProcessTable() {
  std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  while (const dirent* entry = directory == nullptr ? nullptr : ::readdir(directory.get())) {
    pid_t pid = 0;
    const char* name = entry->d_name;
    const auto [end, error] = std::from_chars(name, name + std::strlen(name), pid);
    Process process;
    if (error == std::errc() && *end == '\0' && read_process(name, process)) {
      processes_.emplace(pid, process);
      children_.emplace(process.parent, pid);
    }
  }
}

std::vector<pid_t> ProcessTable::tree_of(pid_t root, std::span<const pid_t> spared) const {
  std::vector<pid_t> tree = {root};
  for (std::size_t at = 0; at < tree.size(); ++at) {
    const auto [first, last] = children_.equal_range(tree[at]);
    for (auto child = first; child != last; ++child) {
      // A number that was given anew while we looked could make a parent of a child.
      if (child->second != root && std::ranges::find(spared, child->second) == spared.end()) {
        tree.push_back(child->second);
      }
    }
  }
  return tree;
}

std::vector<pid_t> ProcessTable::living_descendants(std::span<const pid_t> spared) const {
  std::vector<pid_t> found = tree_of(::getpid(), spared);
  found.erase(found.begin());
  std::erase_if(found, [&](pid_t pid) {
    const char state = processes_.at(pid).state;
    return state == 'Z' || state == 'X';
  });
  return found;
}

std::int64_t ProcessTable::most_memory_of(pid_t root) const {
  std::int64_t sum = 0;
  for (const pid_t pid : tree_of(root)) {
    sum += resident_bytes(pid);
  }
  return sum;
}

std::int64_t ProcessTable::memory_of(pid_t root, std::int64_t enough, std::int64_t files) const {
  std::int64_t sum = 0;
  std::int64_t mapped = 0;
  for (const pid_t pid : tree_of(root)) {
    const Proportional exact = proportional_bytes(pid);
    sum += exact.all < 0 ? resident_bytes(pid) : exact.all - exact.of_files;
    mapped += exact.of_files;
    if (sum + std::max(mapped, files) > enough) {
      break;
    }
  }
  return sum + std::max(mapped, files);
}

std::int64_t bytes_in_memory(int file_system) {
  struct statfs info{};
  if (file_system < 0 || ::fstatfs(file_system, &info) != 0) {
    return 0;
  }
  const auto blocks = static_cast<std::int64_t>(info.f_blocks - info.f_bfree);
  const auto files = static_cast<std::int64_t>(info.f_files - info.f_ffree);
  return blocks * static_cast<std::int64_t>(info.f_bsize) + files * kBytesOfInode;
}

void kill_descendants(std::span<const pid_t> spared) {
  // A stopped process forks no more: nobody is killed before all are stopped, or a program that
  // forks as fast as we look would stay ahead of us.
  std::set<pid_t> stopped;
  bool more = true;
  for (int round = 0; more && round < kRoundsMax; ++round) {
    more = false;
    for (const pid_t pid : ProcessTable().living_descendants(spared)) {
      if (stopped.insert(pid).second) {
        ::kill(pid, SIGSTOP);
        more = true;
      }
    }
  }
  for (int round = 0; round < kRoundsMax; ++round) {
    const std::vector<pid_t> left = ProcessTable().living_descendants(spared);
    if (left.empty()) {
      return;
    }
    for (const pid_t pid : left) {
      ::kill(pid, SIGKILL);
    }
    const timespec pause{.tv_sec = 0, .tv_nsec = kPauseNs};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace codeflare::node::internal
