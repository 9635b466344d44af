#include "node/keeper/internal/real_group_view.h"

#include "base/posix.h"
#include "node/system/mounts.h"

#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node::internal {

namespace {

constexpr const char* kPlace = "/sys/fs/cgroup";
constexpr const char* kMadeUp = "/cgroup";
// Java looks for no limit at all where version 1 lacks this hierarchy.
constexpr const char* kProcessors = "/cpuset";
constexpr const char* kMemoryNow = "cgroup/memory.current";
constexpr std::int64_t kPeriodMicros = 100'000;

bool is_there(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

// "memory" of "/sys/fs/cgroup/memory/codeflare-0/UID"; empty when that is not how it is mounted.
std::string hierarchy_of(const std::string& directory) {
  const std::string before = std::string(kPlace) + "/";
  if (!directory.starts_with(before)) {
    return "";
  }
  const std::string rest = directory.substr(before.size());
  return rest.substr(0, rest.find('/'));
}

// Where we are in the hierarchy of processors, which has no group of the pod; empty: there is none.
std::string own_processors() {
  const std::string mounted = std::string(kPlace) + kProcessors;
  if (!is_there(mounted + "/cpuset.cpus")) {
    return "";
  }
  // "3:cpuset:/machine"
  const std::string text = read_whole_file("/proc/self/cgroup").value_or("");
  const std::string_view before = ":cpuset:";
  const std::size_t begin = text.find(before);
  const std::size_t path = begin + before.size();
  const std::string own =
      begin == std::string::npos ? "" : mounted + text.substr(path, text.find('\n', path) - path);
  return is_there(own + "/cpuset.cpus") ? own : mounted;
}

// "cpu,cpuacct" is found by both names.
Result<void> link_parts(const std::string& root, const std::string& hierarchy) {
  for (std::size_t at = 0; hierarchy.contains(',') && at < hierarchy.size();) {
    const std::string part = hierarchy.substr(at, hierarchy.find(',', at) - at);
    TRY(make_link(hierarchy, root + kPlace + "/" + part));
    at += part.size() + 1;
  }
  return {};
}

Result<void> bind_groups(const GroupView& view, const SandboxSpec& sandbox,
                         const std::string& container) {
  const std::string first = view.groups + "/0/" + container;
  if (is_there(first + "/cgroup.controllers")) {
    return bind_mount(first, view.root + kPlace, true);
  }
  for (std::size_t i = 0; i < sandbox.groups.size(); ++i) {
    const std::string hierarchy = hierarchy_of(sandbox.groups[i]);
    const std::string group = view.groups + "/" + std::to_string(i) + "/" + container;
    if (!hierarchy.empty() && is_there(group)) {
      TRY(bind_mount(group, view.root + kPlace + "/" + hierarchy, true));
      TRY(link_parts(view.root, hierarchy));
    }
  }
  const std::string processors = view.groups + kProcessors;
  return is_there(processors) ? bind_mount(processors, view.root + kPlace + kProcessors, true)
                              : Result<void>();
}

Result<void> make_up(const GroupView& view, const ContainerSpec& spec) {
  const std::string files = view.scratch + kMadeUp;
  const std::string memory =
      spec.memory_limit > 0 ? std::to_string(spec.memory_limit) : std::string("max");
  const std::string cpu = spec.cpu_limit_milli > 0
                              ? std::to_string(spec.cpu_limit_milli * kPeriodMicros / 1000)
                              : std::string("max");
  TRY(make_directory(files));
  TRY(write_small_file(files + "/cgroup.controllers", "cpu memory\n"));
  TRY(write_small_file(files + "/memory.max", memory + "\n"));
  TRY(write_small_file(files + "/memory.current", "0\n"));
  TRY(write_small_file(files + "/memory.stat", "anon 0\nfile 0\ninactive_file 0\nactive_file 0\n"));
  TRY(write_small_file(files + "/cpu.max", cpu + " " + std::to_string(kPeriodMicros) + "\n"));
  return bind_mount(files, view.root + kPlace, true);
}

}  // namespace

void bring_groups(const SandboxSpec& sandbox, const std::string& at) {
  for (std::size_t i = 0; i < sandbox.groups.size(); ++i) {
    static_cast<void>(bind_mount(sandbox.groups[i], at + "/" + std::to_string(i), true));
  }
  const std::string processors = sandbox.groups.empty() ? "" : own_processors();
  if (!processors.empty()) {
    static_cast<void>(bind_mount(processors, at + kProcessors, true));
  }
}

Result<void> show_groups(const GroupView& view, const SandboxSpec& sandbox,
                         const ContainerSpec& spec) {
  // Files that an image has in /sys belong to another machine: they are hidden.
  TRY(make_directory(view.root + "/sys"));
  TRY(mount_tmpfs(view.root + "/sys", "mode=755,size=64k"));
  TRY(make_directory(view.root + kPlace));
  const bool kept = !sandbox.groups.empty() && is_there(view.groups + "/0/" + spec.name);
  TRY(kept ? bind_groups(view, sandbox, spec.name) : make_up(view, spec));
  return make_top_read_only(view.root + "/sys");
}

void show_memory(int scratch, std::int64_t bytes) {
  const FileDescriptor file(::openat(scratch, kMemoryNow, O_WRONLY | O_TRUNC | O_CLOEXEC));
  const std::string text = std::to_string(bytes) + "\n";
  if (file) {
    static_cast<void>(!::write(file.get(), text.data(), text.size()));
  }
}

}  // namespace codeflare::node::internal
