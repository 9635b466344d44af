#include "base/posix.h"
#include "up/processes.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace codeflare::up {

namespace {

class RealProcesses final : public Processes {
 public:
  explicit RealProcesses(FileSystem& files) : files_(files) {}

  Result<void> ask_to_end(const ProcessId& process) override {
    const std::string who = "process " + std::to_string(process.pid);
    // The handle first, then the look: what it names cannot become another process afterwards.
    const FileDescriptor handle(
        static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0)));
    if (!handle && errno != ESRCH) {
      return fail(posix_error(errno, who));
    }
    if (!handle || !is_running(files_, process)) {
      return fail(not_found(who + " is gone"));
    }
    if (::syscall(SYS_pidfd_send_signal, handle.get(), SIGTERM, nullptr, 0) != 0) {
      return fail(errno == ESRCH ? not_found(who + " is gone")
                                 : posix_error(errno, "signal " + who));
    }
    return {};
  }

 private:
  FileSystem& files_;
};

}  // namespace

std::unique_ptr<Processes> machine_processes(FileSystem& files) {
  return std::make_unique<RealProcesses>(files);
}

bool is_administrator() {
  return ::geteuid() == 0;
}

Result<std::string> own_program() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  if (size < 0) {
    return fail(posix_error(errno, "the file of this program"));
  }
  return std::string(path, static_cast<std::size_t>(size));
}

Result<std::string> absolute_path(const std::string& path) {
  char here[PATH_MAX];
  if (path.starts_with('/')) {
    return path;
  }
  if (::getcwd(here, sizeof(here)) == nullptr) {
    return fail(posix_error(errno, "the working directory"));
  }
  return join_path(here, path);
}

Result<void> go_to_background(const std::string& log) {
  const FileDescriptor out(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!out) {
    return fail(posix_error(errno, "open " + log));
  }
  const FileDescriptor in(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!in) {
    return fail(posix_error(errno, "open /dev/null"));
  }
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(posix_error(errno, "fork"));
  }
  if (child > 0) {
    std::printf("%d\n", child);
    std::fflush(stdout);
    ::_exit(0);
  }
  ::setsid();
  if (::dup2(in.get(), STDIN_FILENO) < 0 || ::dup2(out.get(), STDOUT_FILENO) < 0 ||
      ::dup2(out.get(), STDERR_FILENO) < 0) {
    return fail(posix_error(errno, "redirect to " + log));
  }
  return {};
}

}  // namespace codeflare::up
