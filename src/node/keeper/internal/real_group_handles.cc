#include "node/keeper/internal/real_group_handles.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::string_view kCounter = "oom_kill ";

// "oom_kill 3" of a file with one counter in each line, -1 when there is none.
std::int64_t counter_in(int directory, const std::string& path) {
  FileDescriptor file(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> buffer{};
  const ssize_t size = file ? ::read(file.get(), buffer.data(), buffer.size() - 1) : -1;
  std::string_view text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty()) {
    if (text.starts_with(kCounter)) {
      return std::atoll(text.data() + kCounter.size());
    }
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return -1;
}

}  // namespace

Result<GroupHandles> GroupHandles::open(const std::vector<std::string>& directories) {
  GroupHandles handles;
  for (const std::string& directory : directories) {
    FileDescriptor pod(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!pod) {
      return fail(posix_error(errno, "open control group " + directory));
    }
    handles.pods_.push_back(std::move(pod));
  }
  return handles;
}

std::vector<int> GroupHandles::descriptors() const {
  std::vector<int> numbers;
  for (const FileDescriptor& pod : pods_) {
    numbers.push_back(pod.get());
  }
  return numbers;
}

Result<void> GroupHandles::join(const std::string& container) const {
  for (const FileDescriptor& pod : pods_) {
    const std::string path = container + "/cgroup.procs";
    FileDescriptor file(::openat(pod.get(), path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file || ::write(file.get(), "0", 1) != 1) {
      return fail(posix_error(errno, "join the control group of container " + container));
    }
  }
  return {};
}

std::int64_t GroupHandles::oom_kills(const std::string& container) const {
  for (const FileDescriptor& pod : pods_) {
    for (const char* name : {"/memory.events", "/memory.oom_control"}) {
      if (const std::int64_t count = counter_in(pod.get(), container + name); count >= 0) {
        return count;
      }
    }
  }
  return 0;
}

}  // namespace codeflare::node::internal
