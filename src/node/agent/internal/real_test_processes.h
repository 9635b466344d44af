#pragma once

#include "base/posix.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

// For tests: processes of this machine, whatever namespaces they are in.
namespace codeflare::node::internal {

inline std::string read_proc(pid_t process, const std::string& name) {
  const std::string path = "/proc/" + std::to_string(process) + "/" + name;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> buffer{};
  // A stream would throw when the process ends meanwhile.
  for (ssize_t size = 0; (size = ::read(file.get(), buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// The first that has the text among its arguments; 0: none.
inline pid_t process_with(const std::string& text) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process > 0 && read_proc(process, "cmdline").contains(text)) {
      return process;
    }
  }
  return 0;
}

inline pid_t parent_of(pid_t process) {
  constexpr std::string_view kParent = "\nPPid:";
  const std::string status = read_proc(process, "status");
  const std::size_t at = status.find(kParent);
  return at == std::string::npos ? 0 : std::atoi(status.c_str() + at + kParent.size());
}

// Never to process 0 or less, which would be all of ours.
inline bool send_signal(pid_t process, int signal) {
  return process > 0 && ::kill(process, signal) == 0;
}

// Not one that has ended and that nobody has asked about yet.
inline bool is_there(pid_t process) {
  return send_signal(process, 0) && !read_proc(process, "status").contains("\nState:\tZ");
}

inline bool is_locked(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  return file && ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace codeflare::node::internal
