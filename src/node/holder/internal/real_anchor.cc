#include "node/holder/internal/real_anchor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

Result<FileDescriptor> open_lock(const std::string& directory) {
  const std::string path = directory + "/anchor.lock";
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  return file;
}

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

Result<FileDescriptor> watch_process(pid_t process) {
  FileDescriptor watch(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!watch) {
    return fail(posix_error(errno, "watch process " + std::to_string(process)));
  }
  return watch;
}

// The lock goes with the process, and the system tells whose it is.
[[noreturn]] void be_anchor(const std::string& directory, FileDescriptor ready) {
  // Of what the holder has open, nothing may live on in us.
  const int kept = ready.get();
  ::close_range(0, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0u, 0);
  ::setsid();
  ::prctl(PR_SET_NAME, "codeflare-anch", 0, 0, 0);
  const Result<FileDescriptor> file = open_lock(directory);
  struct flock lock = whole_file();
  if (!file || ::fcntl(file->get(), F_SETLK, &lock) != 0) {
    ::_exit(1);
  }
  static_cast<void>(!::write(ready.get(), "R", 1));
  ready.close();
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  for (;;) {
    ::pause();
  }
}

}  // namespace

Result<std::optional<Anchor>> find_anchor(const std::string& directory) {
  TRY_ASSIGN(const FileDescriptor file, open_lock(directory));
  struct flock lock = whole_file();
  if (::fcntl(file.get(), F_GETLK, &lock) != 0) {
    return fail(posix_error(errno, "look for the anchor"));
  }
  if (lock.l_type == F_UNLCK) {
    return std::nullopt;
  }
  TRY_ASSIGN(FileDescriptor watch, watch_process(lock.l_pid));
  return std::optional(Anchor{.process = lock.l_pid, .watch = std::move(watch)});
}

Result<Anchor> start_anchor(const std::string& directory) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(posix_error(errno, "fork the anchor"));
  }
  if (child == 0) {
    be_anchor(directory, std::move(writing));
  }
  writing.close();
  char word = 0;
  while (::read(reading.get(), &word, 1) < 0 && errno == EINTR) {
  }
  if (word != 'R') {
    ::waitpid(child, nullptr, 0);
    return fail(failed_precondition("the anchor could not take its lock"));
  }
  TRY_ASSIGN(FileDescriptor watch, watch_process(child));
  return Anchor{.process = child, .watch = std::move(watch)};
}

Result<void> join_anchor(const Anchor& anchor) {
  const std::string base = "/proc/" + std::to_string(anchor.process) + "/ns/";
  // All are opened before the first is entered: afterwards the process may not be ours to look at.
  struct Namespace {
    const char* name;
    int type;
    FileDescriptor file{};
  };
  std::array<Namespace, 3> all{
      {{"user", CLONE_NEWUSER}, {"net", CLONE_NEWNET}, {"mnt", CLONE_NEWNS}}};
  for (Namespace& one : all) {
    one.file = FileDescriptor(::open((base + one.name).c_str(), O_RDONLY | O_CLOEXEC));
    if (!one.file) {
      return fail(posix_error(errno, "open " + base + one.name));
    }
  }
  for (const Namespace& one : all) {
    if (::setns(one.file.get(), one.type) != 0) {
      return fail(posix_error(errno, std::string("enter the anchor's namespace ") + one.name));
    }
  }
  return {};
}

void end_anchor(const Anchor& anchor) {
  ::kill(anchor.process, SIGKILL);
  ::waitpid(anchor.process, nullptr, 0);
}

}  // namespace codeflare::node::internal
