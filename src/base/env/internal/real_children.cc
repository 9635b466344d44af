#include "base/env/real_children.h"

#include "base/async/wait_list.h"
#include "base/env/internal/real_signals.h"
#include "base/env/internal/real_spawn.h"
#include "base/env/real_env.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare {

namespace {

using boost::asio::posix::stream_descriptor;
using boost::system::error_code;
using internal::Pipe;
using internal::Prepared;

// Where the child says why it could not become the program.
constexpr int kReport = STDERR_FILENO + 1;

struct Descriptors {
  int input = -1;
  int output = -1;
  int error_output = -1;
  int report = -1;
};

// Between fork and exec: nothing but system calls, everything else may be locked by a thread that
// does not exist here.
[[noreturn]] void become(const char* path, char* const* arguments, char* const* settings,
                         const char* directory, const Descriptors& fds, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool orphaned = ::getppid() != parent;
  bool ready = !orphaned && ::dup2(fds.input, STDIN_FILENO) >= 0 &&
               ::dup2(fds.output, STDOUT_FILENO) >= 0 &&
               ::dup2(fds.error_output, STDERR_FILENO) >= 0;
  if (fds.report == kReport) {
    ready = ready && ::fcntl(kReport, F_SETFD, FD_CLOEXEC) == 0;
  } else {
    ready = ready && ::dup3(fds.report, kReport, O_CLOEXEC) >= 0;
  }
  // Also what libraries opened without close-on-exec.
  ::close_range(kReport + 1, ~0U, 0);
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (ready && (directory[0] == '\0' || ::chdir(directory) == 0)) {
    ::execve(path, arguments, settings);
  }
  const int error = errno;
  (void)!::write(kReport, &error, sizeof error);
  ::_exit(127);
}

class RealChildren;

// Shared by the handle, by its readers and by the Asio operations on it.
class Process : public std::enable_shared_from_this<Process> {
 public:
  Process(boost::asio::io_context& context, pid_t pid)
      : pid_(pid),
        exited_(context),
        pipes_{stream_descriptor(context), stream_descriptor(context)} {}

  pid_t pid() const { return pid_; }
  bool ended() const { return ended_; }

  void begin(FileDescriptor exited, FileDescriptor output, FileDescriptor error_output) {
    pipes_[0].assign(output.release());
    pipes_[1].assign(error_output.release());
    exited_.assign(exited.release());
    exited_.async_wait(stream_descriptor::wait_read,
                       [self = shared_from_this()](const error_code&) { self->on_exit(); });
  }

  // Once; the process is a zombie, so its number cannot be anybody else's.
  void on_exit() {
    if (ended_) {
      return;
    }
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    exit_ = WIFSIGNALED(status) ? ChildExit{.code = 0, .signal = WTERMSIG(status)}
                                : ChildExit{.code = WEXITSTATUS(status), .signal = 0};
    ended_ = true;
    error_code ignored;
    exited_.close(ignored);
    for (stream_descriptor& pipe : pipes_) {
      pipe.cancel(ignored);
    }
    changed_.notify_all();
  }

  void signal(int number) {
    if (!ended_) {
      ::kill(-pid_, number);
    }
  }

  static Task<Result<ChildExit>> wait(std::shared_ptr<Process> self) {
    while (!self->ended_) {
      CO_TRY(co_await self->changed_.wait());
    }
    co_return self->exit_;
  }

  static Task<Result<std::string>> read(std::shared_ptr<Process> self, std::size_t stream) {
    while (true) {
      // Read before the look at `ended_`: what was written before the end is in the pipe by then.
      const bool last = self->ended_;
      std::array<char, 16384> buffer;
      stream_descriptor& pipe = self->pipes_[stream];
      const ssize_t got =
          pipe.is_open() ? ::read(pipe.native_handle(), buffer.data(), buffer.size()) : 0;
      if (got > 0) {
        co_return std::string(buffer.data(), static_cast<std::size_t>(got));
      }
      const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
      if (!waits || last) {
        error_code ignored;
        pipe.close(ignored);
        co_return std::string();
      }
      self->wait_for_more(stream);
      CO_TRY(co_await self->changed_.wait());
    }
  }

 private:
  void wait_for_more(std::size_t stream) {
    if (std::exchange(waiting_[stream], true)) {
      return;
    }
    pipes_[stream].async_wait(stream_descriptor::wait_read,
                              [self = shared_from_this(), stream](const error_code&) {
                                self->waiting_[stream] = false;
                                self->changed_.notify_all();
                              });
  }

  const pid_t pid_;
  bool ended_ = false;
  ChildExit exit_{};
  stream_descriptor exited_;
  std::array<stream_descriptor, 2> pipes_;
  std::array<bool, 2> waiting_{};
  WaitList changed_;
};

class RealChild final : public Child {
 public:
  explicit RealChild(std::shared_ptr<Process> process) : process_(std::move(process)) {}
  // Reaped when its end is noticed: the pending wait holds the process.
  ~RealChild() override { process_->signal(SIGKILL); }

  std::int64_t pid() const override { return process_->pid(); }
  Task<Result<std::string>> read(Stream stream) override {
    return Process::read(process_, stream == Stream::output ? 0 : 1);
  }
  Task<Result<ChildExit>> wait() override { return Process::wait(process_); }
  void signal(int number) override { process_->signal(number); }

 private:
  std::shared_ptr<Process> process_;
};

class RealChildren final : public Children {
 public:
  RealChildren(boost::asio::io_context& context, RealChildrenOptions options) : context_(context) {
    if (options.reap_orphans) {
      ::prctl(PR_SET_CHILD_SUBREAPER, 1);
      watch_ = std::make_unique<internal::SignalWatch>(
          context_, std::initializer_list<int>{SIGCHLD}, [this](int) { reap(); });
    }
  }

  Result<std::unique_ptr<Child>> start(ChildCommand command) override {
    const Command program{.program = std::move(command.program),
                          .arguments = std::move(command.arguments),
                          .variables = std::move(command.variables),
                          .working_directory = std::move(command.working_directory)};
    TRY_ASSIGN(Prepared prepared, internal::prepare(program));
    TRY_ASSIGN(Pipe output, internal::make_pipe(true));
    TRY_ASSIGN(Pipe error_output, internal::make_pipe(true));
    TRY_ASSIGN(Pipe report, internal::make_pipe(true));
    FileDescriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const std::vector<char*> arguments = internal::pointers_to(prepared.arguments);
    const std::vector<char*> settings = internal::pointers_to(prepared.settings);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      return fail(posix_error(errno, "start " + program.program));
    }
    if (pid == 0) {
      become(prepared.path.c_str(), arguments.data(), settings.data(),
             program.working_directory.c_str(),
             {.input = input.get(),
              .output = output.theirs.get(),
              .error_output = error_output.theirs.get(),
              .report = report.theirs.get()},
             parent);
    }
    // The child does the same: whoever is first, signals to the group arrive from now on.
    ::setpgid(pid, pid);
    report.theirs.close();
    TRY(check_report(report.ours, pid, program));
    FileDescriptor exited(internal::open_pidfd(pid));
    if (!exited) {
      Error failure = posix_error(errno, "watch the process of " + program.program);
      internal::kill_and_reap(pid);
      return fail(std::move(failure));
    }
    auto process = std::make_shared<Process>(context_, pid);
    std::erase_if(known_, [](const auto& one) { return one.second.expired(); });
    known_[pid] = process;
    process->begin(std::move(exited), std::move(output.ours), std::move(error_output.ours));
    return std::make_unique<RealChild>(std::move(process));
  }

 private:
  // The pipe closes when the program begins; before that it may tell an error.
  static Result<void> check_report(const FileDescriptor& report, pid_t pid,
                                   const Command& command) {
    ::fcntl(report.get(), F_SETFL, 0);
    int error = 0;
    ssize_t got = 0;
    do {
      got = ::read(report.get(), &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    if (got == 0) {
      return {};
    }
    internal::kill_and_reap(pid);
    return fail(internal::start_error(got == sizeof error ? error : EIO, command));
  }

  // Our children are known by their number before anything is reaped.
  void reap() {
    while (true) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
        return;
      }
      auto at = known_.find(info.si_pid);
      std::shared_ptr<Process> process = at == known_.end() ? nullptr : at->second.lock();
      if (process != nullptr && !process->ended()) {
        process->on_exit();
      } else {
        ::waitpid(info.si_pid, nullptr, WNOHANG);
      }
    }
  }

  boost::asio::io_context& context_;
  std::map<pid_t, std::weak_ptr<Process>> known_;
  std::unique_ptr<internal::SignalWatch> watch_;
};

}  // namespace

std::unique_ptr<Children> make_real_children(Loop& loop, RealChildrenOptions options) {
  return std::make_unique<RealChildren>(io_context_of(loop), options);
}

}  // namespace codeflare
