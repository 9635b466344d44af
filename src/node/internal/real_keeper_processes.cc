#include "base/posix.h"
#include "node/keeper_processes.h"

#include <array>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace codeflare::node {

namespace {

constexpr int kRoundsMax = 100;

std::string read_some(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 8192> buffer{};
  const ssize_t size = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), static_cast<std::size_t>(size > 0 ? size : 0)};
}

std::string in_proc(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

// A keeper and its inits are forks of what was started: the words are those of the start, "PROGRAM
// pod-keeper ... DIRECTORY ...".
bool keeps(pid_t pid, const std::string& directory) {
  const std::string words = read_some(in_proc(pid, "cmdline"));
  bool keeper = false;
  for (std::size_t at = 0; at < words.size();) {
    const std::string_view word(words.c_str() + at);
    if (keeper && word == directory) {
      return true;
    }
    keeper = keeper || word == "pod-keeper";
    at += word.size() + 1;
  }
  return false;
}

// "PID (NAME) STATE PARENT ...", where the name may hold anything.
struct Process {
  pid_t parent = 0;
  bool alive = false;
};

Process look_at(pid_t pid) {
  const std::string text = read_some(in_proc(pid, "stat"));
  const std::size_t end = text.rfind(')');
  char state = 0;
  int parent = 0;
  if (end == std::string::npos ||
      std::sscanf(text.c_str() + end + 1, " %c %d", &state, &parent) != 2) {
    return {};
  }
  return {.parent = parent, .alive = state != 'Z' && state != 'X'};
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [stop, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed == std::errc() && stop == name.data() + name.size()) {
      processes.emplace(pid, look_at(pid));
    }
  }
  return processes;
}

bool descends_from(const std::map<pid_t, Process>& processes, pid_t pid,
                   const std::set<pid_t>& roots) {
  for (auto at = processes.find(pid); at != processes.end();
       at = processes.find(at->second.parent)) {
    if (roots.contains(at->second.parent)) {
      return true;
    }
  }
  return false;
}

// Only while it is still the same process.
template <typename Test>
void kill_if(pid_t pid, const Test& is_keeper) {
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process && is_keeper(pid)) {
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
}

}  // namespace

void kill_keeper(const std::string& pod_directory) {
  std::array<char, PATH_MAX> real{};
  const bool found = ::realpath(pod_directory.c_str(), real.data()) != nullptr;
  const std::string named = found ? real.data() : pod_directory;
  const auto is_keeper = [&](pid_t pid) { return keeps(pid, pod_directory) || keeps(pid, named); };
  // Where there are no namespaces, what a keeper has started is found by it alone: it goes last.
  for (int round = 0; round < kRoundsMax; ++round) {
    const std::map<pid_t, Process> processes = all_processes();
    std::set<pid_t> keepers;
    for (const auto& [pid, process] : processes) {
      if (process.alive && is_keeper(pid)) {
        keepers.insert(pid);
      }
    }
    bool others = false;
    for (const auto& [pid, process] : processes) {
      if (process.alive && !keepers.contains(pid) && descends_from(processes, pid, keepers)) {
        others = true;
        ::kill(pid, SIGKILL);
      }
    }
    if (others && round + 1 < kRoundsMax) {
      continue;
    }
    for (const pid_t keeper : keepers) {
      kill_if(keeper, is_keeper);
    }
    return;
  }
}

}  // namespace codeflare::node
