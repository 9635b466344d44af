#include "node/internal/real_process_tree.h"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/types.h>
#include <unistd.h>

namespace codeflare::node::internal {

namespace {

constexpr int kRoundsMax = 100;

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

struct Process {
  pid_t parent = 0;
  char state = '?';
};

// "12 (name with ) in it) S 1 ..."
bool read_process(const char* name, Process& process) {
  std::unique_ptr<std::FILE, CloseFile> file(
      std::fopen((std::string("/proc/") + name + "/stat").c_str(), "re"));
  char text[512] = {};
  if (file == nullptr || std::fread(text, 1, sizeof text - 1, file.get()) == 0) {
    return false;
  }
  const char* end = std::strrchr(text, ')');
  return end != nullptr && std::sscanf(end + 1, " %c %d", &process.state, &process.parent) == 2;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc"));
  while (const dirent* entry = directory == nullptr ? nullptr : ::readdir(directory.get())) {
    pid_t pid = 0;
    const char* name = entry->d_name;
    const auto [end, error] = std::from_chars(name, name + std::strlen(name), pid);
    Process process;
    if (error == std::errc() && *end == '\0' && read_process(name, process)) {
      processes.emplace(pid, process);
    }
  }
  return processes;
}

bool descends_from(const std::map<pid_t, Process>& processes, pid_t pid, pid_t ancestor) {
  std::set<pid_t> seen;
  while (seen.insert(pid).second) {
    auto found = processes.find(pid);
    if (found == processes.end()) {
      return false;
    }
    pid = found->second.parent;
    if (pid == ancestor) {
      return true;
    }
  }
  return false;
}

}  // namespace

void kill_descendants() {
  // A process may fork while we look: look again until nothing is left alive.
  for (int round = 0; round < kRoundsMax; ++round) {
    const std::map<pid_t, Process> processes = all_processes();
    bool any = false;
    for (const auto& [pid, process] : processes) {
      if (process.state != 'Z' && process.state != 'X' &&
          descends_from(processes, pid, ::getpid())) {
        any = true;
        ::kill(pid, SIGKILL);
      }
    }
    if (!any) {
      return;
    }
  }
}

}  // namespace codeflare::node::internal
