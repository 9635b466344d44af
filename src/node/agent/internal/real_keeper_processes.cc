#include "base/posix.h"
#include "node/agent/keeper_processes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

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

// The names by which a pod's directory may have been given.
using Names = std::set<std::string, std::less<>>;

enum class Keeps : std::uint8_t { nothing, another_pod, this_pod };

// A keeper and its inits are forks of what was started: the words are those of the start, "PROGRAM
// pod-keeper ... DIRECTORY ...".
Keeps look_at_words(pid_t pid, const Names& names) {
  const std::string words = read_some(in_proc(pid, "cmdline"));
  Keeps keeps = Keeps::nothing;
  for (std::size_t at = 0; at < words.size();) {
    const std::string_view word(words.c_str() + at);
    if (keeps != Keeps::nothing && names.contains(word)) {
      return Keeps::this_pod;
    }
    keeps = word == "pod-keeper" ? Keeps::another_pod : keeps;
    at += word.size() + 1;
  }
  return keeps;
}

// "NSpid: 4711 1": whatever else is in its namespace goes with it, all at once.
bool is_first_of_namespace(pid_t pid) {
  const std::string text = read_some(in_proc(pid, "status"));
  const std::size_t begin = std::min(text.find("\nNSpid:"), text.size());
  const std::string_view line =
      std::string_view(text).substr(begin).substr(0, text.find('\n', begin + 1) - begin);
  return line.ends_with("\t1") && std::ranges::count(line, '\t') > 1;
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

struct Kept {
  std::vector<pid_t> keepers;  // and their inits
  std::vector<pid_t> others;   // what those have started
};

// From the top of the tree of processes, so that of those that pods have started no words are read:
// the kernel lets nobody read them while they fork, and some do nothing else.
Kept find_kept(const Names& names) {
  const std::map<pid_t, Process> processes = all_processes();
  std::multimap<pid_t, pid_t> children;
  struct Visit {
    pid_t pid;
    int keepers;  // above it
  };
  std::vector<Visit> visits;
  for (const auto& [pid, process] : processes) {
    children.emplace(process.parent, pid);
    if (!processes.contains(process.parent)) {
      visits.push_back({.pid = pid, .keepers = 0});
    }
  }
  Kept kept;
  for (std::size_t at = 0; at < visits.size(); ++at) {
    Visit visit = visits[at];
    // A keeper, its init: what is below belongs to a container.
    const Keeps keeps = visit.keepers > 1 ? Keeps::nothing : look_at_words(visit.pid, names);
    if (keeps == Keeps::another_pod && visit.keepers == 0) {
      continue;
    }
    if (processes.at(visit.pid).alive && keeps == Keeps::this_pod) {
      kept.keepers.push_back(visit.pid);
    } else if (processes.at(visit.pid).alive && visit.keepers > 0) {
      kept.others.push_back(visit.pid);
    }
    visit.keepers += keeps == Keeps::this_pod || visit.keepers > 0 ? 1 : 0;
    const auto [first, last] = children.equal_range(visit.pid);
    for (auto child = first; child != last; ++child) {
      visits.push_back({.pid = child->second, .keepers = visit.keepers});
    }
  }
  return kept;
}

// Only while it is still the same process.
void kill_if_keeper(pid_t pid, const Names& names) {
  const FileDescriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process && look_at_words(pid, names) == Keeps::this_pod) {
    ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
}

}  // namespace

void kill_keeper(const std::string& pod_directory) {
  std::array<char, PATH_MAX> real{};
  Names names = {pod_directory};
  if (::realpath(pod_directory.c_str(), real.data()) != nullptr) {
    names.emplace(real.data());
  }
  // Where there are no namespaces, what a keeper has started is found by it alone: it goes last.
  // And nobody is killed before all are stopped: others would fork faster than we look.
  std::set<pid_t> stopped;
  for (int round = 1;; ++round) {
    const Kept kept = find_kept(names);
    if (kept.others.empty() || round == kRoundsMax ||
        std::ranges::any_of(kept.keepers, is_first_of_namespace)) {
      for (const pid_t keeper : kept.keepers) {
        kill_if_keeper(keeper, names);
      }
      return;
    }
    bool all_stopped = true;
    for (const pid_t pid : kept.others) {
      all_stopped = !stopped.insert(pid).second && all_stopped;
      ::kill(pid, SIGSTOP);
    }
    for (const pid_t pid : all_stopped ? kept.others : std::vector<pid_t>()) {
      ::kill(pid, SIGKILL);
    }
  }
}

}  // namespace codeflare::node
