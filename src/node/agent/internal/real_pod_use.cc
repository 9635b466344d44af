#include "base/posix.h"
#include "node/agent/pod_use.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

std::string read_some(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 8192> buffer{};
  const ssize_t size = file ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  return {buffer.data(), static_cast<std::size_t>(size > 0 ? size : 0)};
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// "usage_usec 12\nuser_usec 7\n".
std::optional<std::int64_t> number_of(const std::string& text, const std::string& key) {
  const std::string line = "\n" + key + " ";
  const std::string all = "\n" + text;
  const std::size_t at = all.find(line);
  return at == std::string::npos ? std::nullopt
                                 : number_in(std::string_view(all).substr(at + line.size()));
}

// --- control groups ---

struct GroupUse {
  std::optional<std::int64_t> cpu_nanos;
  std::optional<std::int64_t> memory_bytes;
};

GroupUse read_groups(const std::vector<std::string>& pod, const std::string& container) {
  GroupUse use;
  for (const std::string& directory : pod) {
    const std::string group = directory + "/" + container + "/";
    if (const auto micros = number_of(read_some(group + "cpu.stat"), "usage_usec")) {
      use.cpu_nanos = *micros * 1000;
    }
    if (const auto nanos = number_in(read_some(group + "cpuacct.usage"))) {
      use.cpu_nanos = *nanos;
    }
    std::optional<std::int64_t> memory = number_in(read_some(group + "memory.current"));
    const char* idle = "inactive_file";
    if (!memory) {
      memory = number_in(read_some(group + "memory.usage_in_bytes"));
      idle = "total_inactive_file";
    }
    if (memory) {
      const std::int64_t files = number_of(read_some(group + "memory.stat"), idle).value_or(0);
      use.memory_bytes = std::max<std::int64_t>(0, *memory - files);
    }
  }
  return use;
}

// --- processes ---

struct Process {
  pid_t parent = 0;
  std::int64_t nanos = 0;    // its own and of children that it has waited for
  std::int64_t started = 0;  // in ticks since the machine started
};

std::string in_proc(pid_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

// "PID (NAME) STATE PARENT ...", where the name may hold anything.
std::optional<Process> look_at(pid_t pid) {
  const std::string text = read_some(in_proc(pid, "stat"));
  const std::size_t end = text.rfind(')');
  char state = 0;
  int parent = 0;
  unsigned long long times[4] = {};
  unsigned long long started = 0;
  if (end == std::string::npos ||
      std::sscanf(text.c_str() + end + 1,
                  " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d "
                  "%llu",
                  &state, &parent, &times[0], &times[1], &times[2], &times[3], &started) != 7) {
    return std::nullopt;
  }
  const unsigned long long ticks = times[0] + times[1] + times[2] + times[3];
  const auto per_second = static_cast<unsigned long long>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return Process{.parent = parent,
                 .nanos = static_cast<std::int64_t>(ticks * (1'000'000'000ULL / per_second)),
                 .started = static_cast<std::int64_t>(started)};
}

std::int64_t memory_of(pid_t pid) {
  const std::string rollup = read_some(in_proc(pid, "smaps_rollup"));
  if (const std::size_t at = rollup.find("\nPss:"); at != std::string::npos) {
    const std::string_view rest = std::string_view(rollup).substr(at + 5);
    const std::size_t digit = rest.find_first_not_of(' ');
    return number_in(rest.substr(std::min(digit, rest.size()))).value_or(0) * 1024;
  }
  long pages = 0;
  const std::string text = read_some(in_proc(pid, "statm"));
  return std::sscanf(text.c_str(), "%*d %ld", &pages) == 1 ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

class ProcessTree {
 public:
  ProcessTree() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const std::string name = entry.path().filename().string();
      pid_t pid = 0;
      const auto [stop, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
      if (failed != std::errc() || stop != name.data() + name.size()) {
        continue;
      }
      if (const std::optional<Process> process = look_at(pid)) {
        processes_.emplace(pid, *process);
        children_.emplace(process->parent, pid);
      }
    }
    for (const auto& [pid, process] : processes_) {
      if (!processes_.contains(process.parent)) {
        find_keepers(pid, {});
      }
    }
  }

  // Uses of the pod's containers; empty when it cannot be said which process belongs to which.
  std::vector<ContainerUse> uses_of(const MeasuredPod& pod) const {
    std::vector<pid_t> tops;
    const auto kept = kept_.find(pod.directory);
    if (kept == kept_.end() || pod.running.empty()) {
      return {};
    }
    for (const pid_t pid : kept->second) {
      const bool is_last = !std::ranges::any_of(
          kept->second, [&](pid_t other) { return processes_.at(other).parent == pid; });
      if (is_last) {
        tops.push_back(pid);
      }
    }
    std::ranges::sort(tops, {}, [&](pid_t pid) { return processes_.at(pid).started; });
    std::vector<ContainerUse> uses;
    if (pod.running.size() == 1) {
      uses.push_back({.name = pod.running.front()});
      for (const pid_t top : tops) {
        add(top, uses.front());
      }
      return uses;
    }
    for (std::size_t i = 0; tops.size() == pod.running.size() && i < tops.size(); ++i) {
      uses.push_back({.name = pod.running[i]});
      add(tops[i], uses.back());
    }
    return uses;
  }

 private:
  // A keeper and its inits are forks of what was started: "PROGRAM pod-keeper ... DIRECTORY ...".
  // Below an init nothing is read: the kernel lets nobody read the words of a process that forks.
  void find_keepers(pid_t pid, const std::string& above) {
    std::string directory = kept_directory(pid);
    if (!above.empty() && directory != above) {
      return;
    }
    if (!directory.empty()) {
      kept_[directory].push_back(pid);
    }
    const auto [first, last] = children_.equal_range(pid);
    for (auto child = first; child != last; ++child) {
      find_keepers(child->second, directory);
    }
  }

  static std::string kept_directory(pid_t pid) {
    const std::string words = read_some(in_proc(pid, "cmdline"));
    bool keeper = false;
    for (std::size_t at = 0; at < words.size();) {
      const std::string_view word(words.c_str() + at);
      if (keeper && !word.starts_with("--")) {
        return std::string(word);
      }
      keeper = keeper || word == "pod-keeper";
      at += word.size() + 1;
    }
    return "";
  }

  void add(pid_t pid, ContainerUse& use) const {
    use.cpu_nanos += processes_.at(pid).nanos;
    use.memory_bytes += memory_of(pid);
    const auto [first, last] = children_.equal_range(pid);
    for (auto child = first; child != last; ++child) {
      add(child->second, use);
    }
  }

  std::map<pid_t, Process> processes_;
  std::multimap<pid_t, pid_t> children_;
  std::map<std::string, std::vector<pid_t>> kept_;  // keepers and inits by the pod's directory
};

}  // namespace

PodUses measure_pods(const std::vector<MeasuredPod>& pods) {
  PodUses uses;
  std::optional<ProcessTree> tree;
  for (const MeasuredPod& pod : pods) {
    std::vector<ContainerUse> found;
    for (const std::string& name : pod.running) {
      const GroupUse use = read_groups(pod.groups, name);
      if (use.cpu_nanos && use.memory_bytes) {
        found.push_back({name, *use.cpu_nanos, *use.memory_bytes});
      }
    }
    if (found.size() < pod.running.size()) {
      if (!tree) {
        tree.emplace();
      }
      found = tree->uses_of(pod);
    }
    uses.emplace(pod.uid, std::move(found));
  }
  return uses;
}

}  // namespace codeflare::node
