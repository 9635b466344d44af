#include "base/posix.h"
#include "node/agent/limit_groups.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

constexpr auto kControllers = {"memory", "cpu", "pids"};
// Counts processor time; of version 1, where `cpu` need not be mounted together with it.
constexpr auto kAccounting = "cpuacct";
constexpr int kRemoveTries = 100;
constexpr std::chrono::milliseconds kRemoveWait(10);

struct Mount {
  std::string root;   // of the hierarchy, what of it is mounted
  std::string point;  // where
};

struct Hierarchies {
  std::map<std::string, Mount, std::less<>> v1;  // by controller
  std::optional<Mount> v2;
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) {
      return true;
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

// "29 23 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
Hierarchies read_mounts() {
  Hierarchies found;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) {
      continue;
    }
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string skip;
    Mount mount;
    before >> skip >> skip >> skip >> mount.root >> mount.point;
    std::string type;
    std::string source;
    std::string options;
    after >> type >> source >> options;
    if (type == "cgroup2" && !found.v2) {
      found.v2 = mount;
    }
    for (const char* controller : {"memory", "cpu", "pids", kAccounting}) {
      if (type == "cgroup" && has_word(options, controller)) {
        found.v1.emplace(controller, mount);
      }
    }
  }
  return found;
}

// Where we are in the hierarchy of the controller, as a directory; "" is version 2.
std::string own_directory(const Mount& mount, std::string_view controller) {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string_view names = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller.empty() ? !names.empty() : !has_word(names, controller)) {
      continue;
    }
    std::string path = line.substr(second + 1);
    if (mount.root != "/" && path.starts_with(mount.root)) {
      path.erase(0, mount.root.size());
    }
    return path == "/" ? mount.point : mount.point + path;
  }
  return mount.point;
}

Result<void> make_group(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail(posix_error(errno, "make control group " + path));
  }
  return {};
}

Result<void> write_setting(const std::string& path, const std::string& value) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), value.data(), value.size()) < 0) {
    return fail(posix_error(errno, "write " + value + " to " + path));
  }
  return {};
}

// Processes that have just ended may still be counted.
Result<void> remove_group(const std::string& path) {
  for (int turn = 0; ::rmdir(path.c_str()) != 0 && errno != ENOENT; ++turn) {
    if (errno != EBUSY || turn == kRemoveTries) {
      return fail(posix_error(errno, "remove control group " + path));
    }
    std::this_thread::sleep_for(kRemoveWait);
  }
  return {};
}

std::vector<std::string> groups_in(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error)) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

GroupVersion version_of(const std::string& group) {
  return is_there(group + "/cgroup.controllers") ? GroupVersion::v2 : GroupVersion::v1;
}

// In those of the directories that have the controller; in none is an error.
Result<void> write_settings(const std::vector<std::string>& groups, GroupVersion version,
                            const ResourceBounds& bounds) {
  for (const GroupSetting& setting : group_settings(version, bounds)) {
    Result<void> written = fail(unsupported("no group has " + std::string(setting.file)));
    for (const std::string& group : groups) {
      const std::string path = group + "/" + std::string(setting.file);
      if (is_there(path)) {
        written = write_setting(path, setting.value);
      }
    }
    if (!written && !setting.optional) {
      return written;
    }
  }
  return {};
}

// The controllers of groups below this one.
Result<void> hand_down(const std::string& group) {
  return write_setting(group + "/cgroup.subtree_control", "+memory +cpu +pids");
}

std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;  // "max" is none
}

// Process ids that the machine, or the group around `base`, has.
std::optional<std::int64_t> process_ids_around(const std::string& base) {
  const std::string around = base.substr(0, base.rfind('/'));
  std::optional<std::int64_t> least;
  for (const std::string& path :
       {std::string("/proc/sys/kernel/pid_max"), std::string("/proc/sys/kernel/threads-max"),
        around + "/pids.max"}) {
    if (const std::optional<std::int64_t> count = number_in(path)) {
      least = std::min(least.value_or(*count), *count);
    }
  }
  return least;
}

// The bound of one pod does not keep several that fork from taking all process ids.
Result<void> limit_all_pods(const std::string& base) {
  const std::string path = base + "/pids.max";
  const std::optional<std::int64_t> available = process_ids_around(base);
  if (!available || !is_there(path)) {
    return {};
  }
  return write_setting(path, std::to_string(node_processes_max(*available)));
}

// The last pod takes the directory around it along, while another may be coming.
std::mutex& making_and_removing() {
  static std::mutex mutex;
  return mutex;
}

// Whether groups with all that we need can really be made there.
Result<std::unique_ptr<LimitGroups>> tried(GroupVersion version, std::vector<std::string> bases) {
  const std::string uid = "try-" + std::to_string(::getpid());
  const ResourceBounds some{.memory_limit = 64 << 20, .cpu_request_milli = 100, .pids_limit = 64};
  std::vector<std::string> pod;
  for (const std::string& base : bases) {
    pod.push_back(base + "/" + uid);
  }
  auto groups = std::make_unique<LimitGroups>(version, std::move(bases));
  const Result<std::vector<std::string>> made = groups->make_pod(uid, some);
  const Result<void> filled = made ? make_container_groups(pod, "c", some) : fail(made.error());
  const Result<void> removed = remove_pod_groups(pod);  // also what there is of it
  TRY(filled);
  TRY(removed);
  return groups;
}

}  // namespace

LimitGroups::LimitGroups(GroupVersion version, std::vector<std::string> bases)
    : version_(version), bases_(std::move(bases)) {}

std::vector<std::string> LimitGroups::directories_of(const std::string& uid) const {
  std::vector<std::string> pod;
  for (const std::string& base : bases_) {
    pod.push_back(base + "/" + uid);
  }
  return pod;
}

Result<void> LimitGroups::keep(const std::set<std::string>& uids) const {
  std::set<std::string> others;
  for (const std::string& base : bases_) {
    for (const std::string& uid : groups_in(base)) {
      if (!uids.contains(uid)) {
        others.insert(uid);
      }
    }
  }
  Result<void> result;
  for (const std::string& uid : others) {
    if (Result<void> removed = remove_pod_groups(directories_of(uid)); !removed) {
      result = std::move(removed);
    }
  }
  return result;
}

Result<std::vector<std::string>> LimitGroups::make_pod(const std::string& uid,
                                                       const ResourceBounds& bounds) const {
  const std::lock_guard lock(making_and_removing());
  std::vector<std::string> pod;
  for (const std::string& base : bases_) {
    TRY(make_group(base));
    if (version_ == GroupVersion::v2) {
      TRY(hand_down(base));
    }
    TRY(limit_all_pods(base));
    pod.push_back(base + "/" + uid);
    TRY(make_group(pod.back()));
    if (version_ == GroupVersion::v2) {
      TRY(hand_down(pod.back()));
    }
  }
  TRY(write_settings(pod, version_, bounds));
  return pod;
}

Result<void> make_container_groups(const std::vector<std::string>& pod,
                                   const std::string& container, const ResourceBounds& bounds) {
  std::vector<std::string> groups;
  for (const std::string& directory : pod) {
    groups.push_back(directory + "/" + container);
    TRY(make_group(groups.back()));
  }
  return groups.empty() ? Result<void>()
                        : write_settings(groups, version_of(groups.front()), bounds);
}

Result<void> remove_pod_groups(const std::vector<std::string>& pod) {
  const std::lock_guard lock(making_and_removing());
  Result<void> result;
  for (const std::string& directory : pod) {
    for (const std::string& container : groups_in(directory)) {
      if (const Result<void> removed = remove_group(directory + "/" + container); !removed) {
        result = removed;
      }
    }
    if (const Result<void> removed = remove_group(directory); !removed) {
      result = removed;
    }
    ::rmdir(directory.substr(0, directory.rfind('/')).c_str());  // when it was the last
  }
  return result;
}

Result<std::unique_ptr<LimitGroups>> LimitGroups::find(const std::string& name) {
  const Hierarchies found = read_mounts();
  if (found.v1.contains("memory")) {
    std::vector<std::string> bases;
    for (const char* controller : kControllers) {
      const auto mount = found.v1.find(controller);
      if (mount == found.v1.end()) {
        return fail(
            unsupported(std::string("the control group ") + controller + " is not mounted"));
      }
      bases.push_back(own_directory(mount->second, controller) + "/" + name);
    }
    const auto accounting = found.v1.find(kAccounting);
    if (accounting != found.v1.end() && accounting->second.point != found.v1.at("cpu").point) {
      std::vector<std::string> more = bases;
      more.push_back(own_directory(accounting->second, kAccounting) + "/" + name);
      Result<std::unique_ptr<LimitGroups>> groups = tried(GroupVersion::v1, std::move(more));
      if (groups) {
        return groups;
      }
    }
    return tried(GroupVersion::v1, std::move(bases));
  }
  if (!found.v2) {
    return fail(unsupported("no control groups are mounted"));
  }
  // At the top where we may, as a kubelet does; else beside us, where users have their own. A group
  // with processes of its own cannot have groups with limits below.
  const std::string own = own_directory(*found.v2, "");
  Result<std::unique_ptr<LimitGroups>> result = fail(unsupported("no group can be made"));
  for (const std::string& around : {found.v2->point, own.substr(0, own.rfind('/'))}) {
    if (around.size() < found.v2->point.size()) {
      break;
    }
    static_cast<void>(hand_down(around));  // it may be so already
    Result<std::unique_ptr<LimitGroups>> groups = tried(GroupVersion::v2, {around + "/" + name});
    if (groups) {
      return groups;
    }
    result = std::move(groups);
  }
  return result;
}

}  // namespace codeflare::node
