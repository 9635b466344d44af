#include "node/keeper/internal/real_exec_host.h"

#include "node/keeper/internal/real_container.h"
#include "node/keeper/internal/real_process_tree.h"
#include "node/system/descriptors.h"
#include "node/wire/message.h"
#include "node/wire/stream_protocol.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node::internal {

namespace {

constexpr int kExecFailed = 126;
// The first byte of a child's message, before its reason.
constexpr char kNotFound = 'N';
constexpr char kOtherError = 'E';
// Programs beside the first one; each holds a connection.
constexpr std::size_t kSessionsMax = 64;

struct Session {
  pid_t program = -1;
  FileDescriptor connection;
  int hangup_signal = SIGHUP;
};

// The standard streams of a program, seen from both sides.
struct Streams {
  std::vector<FileDescriptor> outside;
  std::vector<std::string> names;  // of those outside
  FileDescriptor input;
  FileDescriptor output;
  FileDescriptor error_output;
  bool terminal = false;
};

Result<Streams> make_streams(const StreamRequest& request) {
  Streams streams{.terminal = request.terminal};
  if (request.terminal) {
    TRY_ASSIGN(Terminal terminal, make_terminal(request.columns, request.rows));
    streams.outside.push_back(std::move(terminal.outside));
    streams.names = {"terminal"};
    streams.output = FileDescriptor(::fcntl(terminal.inside.get(), F_DUPFD_CLOEXEC, 3));
    streams.error_output = FileDescriptor(::fcntl(terminal.inside.get(), F_DUPFD_CLOEXEC, 3));
    streams.input = std::move(terminal.inside);
    return streams;
  }
  if (request.input) {
    TRY_ASSIGN(Pipe input, make_pipe(O_CLOEXEC));
    streams.outside.push_back(std::move(input.writing));
    streams.names.emplace_back("input");
    streams.input = std::move(input.reading);
  } else {
    streams.input = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  TRY_ASSIGN(Pipe output, make_pipe(O_CLOEXEC));
  TRY_ASSIGN(Pipe error_output, make_pipe(O_CLOEXEC));
  streams.outside.push_back(std::move(output.reading));
  streams.outside.push_back(std::move(error_output.reading));
  streams.names.emplace_back("output");
  streams.names.emplace_back("error");
  streams.output = std::move(output.writing);
  streams.error_output = std::move(error_output.writing);
  return streams;
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void answer(const FileDescriptor& connection, const StreamAnswer& answer,
            std::span<const int> descriptors = {}) {
  // A client that does not read it learns from the end of the connection that something is wrong.
  static_cast<void>(send_with_descriptors(connection.get(), framed(answer), descriptors));
}

// In the child: nothing that the init holds may be left when a neighbour in the container can look
// at this process. Standard streams take the first three places.
void keep_only(const Streams& streams, int failure, int user_namespace) {
  ::dup2(streams.input.get(), STDIN_FILENO);
  ::dup2(streams.output.get(), STDOUT_FILENO);
  ::dup2(streams.error_output.get(), STDERR_FILENO);
  std::array<int, 2> keep = {failure, user_namespace};
  std::ranges::sort(keep);
  unsigned first = STDERR_FILENO + 1;
  for (int fd : keep) {
    if (fd < static_cast<int>(first)) {
      continue;  // there is none
    }
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) {
      ::close_range(first, kept - 1, 0);
    }
    first = kept + 1;
  }
  ::close_range(first, ~0u, 0);
}

bool has_variable(const std::vector<std::string>& environment, std::string_view name) {
  return std::ranges::any_of(environment,
                             [&](const std::string& entry) { return entry.starts_with(name); });
}

class ExecHost {
 public:
  explicit ExecHost(RunningProgram running) : running_(std::move(running)) {
    sigset_t all;
    sigfillset(&all);
    signals_ = FileDescriptor(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
    if (running_.view.isolated) {
      // Programs run beside the container's program share its user namespace, or tools that look at
      // it from there would fail.
      const std::string path = "/proc/" + std::to_string(running_.program) + "/ns/user";
      user_namespace_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
  }

  int run() {
    for (;;) {
      std::vector<pollfd> waits;
      waits.push_back({.fd = signals_.get(), .events = POLLIN, .revents = 0});
      waits.push_back({.fd = running_.control.get(), .events = POLLIN, .revents = 0});
      for (const auto& session : sessions_) {
        waits.push_back({.fd = session->connection.get(), .events = POLLIN, .revents = 0});
      }
      static_cast<void>(::poll(waits.data(), waits.size(), -1));
      take_signals();
      if (const std::optional<int> status = reap()) {
        return *status;
      }
      // The list is as long as it was, or shorter by those that reap() has dropped: look by name.
      for (std::size_t i = 2; i < waits.size(); ++i) {
        const auto found = std::ranges::find(
            sessions_, waits[i].fd, [](const auto& session) { return session->connection.get(); });
        if (waits[i].revents != 0 && found != sessions_.end()) {
          listen_to(**found);
        }
      }
      std::erase_if(sessions_, [](const auto& session) { return !session->connection; });
      if ((waits[1].revents & POLLIN) != 0) {
        take_request();
      } else if (waits[1].revents != 0) {
        running_.control.close();  // the keeper is gone; poll() passes over it
      }
    }
  }

 private:
  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const auto signal = static_cast<int>(info.ssi_signo);
      if (signal == kill_all_signal()) {
        running_.view.isolated ? static_cast<void>(::kill(-1, SIGKILL)) : kill_descendants();
      } else if (signal != SIGCHLD) {
        ::kill(running_.program, signal);
      }
    }
  }

  // The status of the first program once it has ended.
  std::optional<int> reap() {
    int status = 0;
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == running_.program) {
        return status;
      }
      take_signals();  // where all do nothing but fork, children may end without end
      const auto found =
          std::ranges::find(sessions_, ended, [](const auto& session) { return session->program; });
      if (found != sessions_.end()) {
        answer((*found)->connection, {.ended = true, .exit_code = exit_code_of(status)});
        sessions_.erase(found);
      }
    }
    return std::nullopt;
  }

  // Nothing is said on these connections any more; their end is what counts.
  static void listen_to(Session& session) {
    std::array<char, 256> buffer{};
    const ssize_t size =
        ::recv(session.connection.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
      // As when a terminal is closed. A program that ignores it goes with the container.
      ::kill(-session.program, session.hangup_signal);
      session.connection.close();
    }
  }

  void take_request() {
    Packet packet = receive_packet(running_.control.get(), kStreamRequestBytesMax);
    if (packet.descriptors.empty()) {
      if (packet.bytes.empty()) {
        running_.control.close();  // its end
      }
      return;
    }
    FileDescriptor connection = std::move(packet.descriptors.front());
    const Result<StreamRequest> request = parse_message<StreamRequest>(packet.bytes);
    const Result<void> started = request ? start(*request, connection) : fail(request.error());
    if (!started) {
      const Error& error = started.error();
      answer(connection, {.error = error.message, .missing = error.code == ErrorCode::not_found});
    }
  }

  // Takes the connection when it succeeds.
  Result<void> start(const StreamRequest& request, FileDescriptor& connection) {
    if (request.command.empty()) {
      return fail(invalid_argument("you must specify at least one command for the container"));
    }
    if (sessions_.size() >= kSessionsMax) {
      return fail(resource_exhausted("too many programs run beside the container's own"));
    }
    TRY_ASSIGN(Streams streams, make_streams(request));
    TRY_ASSIGN(Pipe failure, make_pipe(O_CLOEXEC));
    const pid_t program = ::fork();
    if (program == 0) {
      become(request, streams, failure.writing.get());
    }
    if (program < 0) {
      return fail(posix_error(errno, "fork"));
    }
    failure.writing.close();
    std::string said;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0;
         (size = ::read(failure.reading.get(), buffer.data(), buffer.size())) > 0;) {
      said.append(buffer.data(), static_cast<std::size_t>(size));
    }
    if (!said.empty()) {
      std::string reason = said.substr(1);
      return fail(said[0] == kNotFound ? not_found(std::move(reason))
                                       : failed_precondition(std::move(reason)));
    }
    std::vector<int> descriptors;
    for (const FileDescriptor& one : streams.outside) {
      descriptors.push_back(one.get());
    }
    answer(connection, {.descriptors = std::move(streams.names)}, descriptors);
    auto session = std::make_unique<Session>();
    session->program = program;
    session->connection = std::move(connection);
    session->hangup_signal = request.hangup_signal > 0 ? request.hangup_signal : SIGHUP;
    sessions_.push_back(std::move(session));
    return {};
  }

  // Never returns.
  [[noreturn]] void become(const StreamRequest& request, const Streams& streams, int failure) {
    ::setsid();
    keep_only(streams, failure, user_namespace_.get());
    if (request.terminal) {
      ::ioctl(STDIN_FILENO, TIOCSCTTY, 0);
    }
    ContainerSpec spec = running_.spec;
    spec.command = request.command;
    if (request.terminal && !has_variable(spec.environment, "TERM=")) {
      spec.environment.emplace_back("TERM=xterm");
    }
    if (!user_namespace_) {
      // It has to write its own maps, which are out of reach for what cannot be looked at.
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    }
    const Error error =
        become_program(running_.view, std::move(spec), {.user_namespace = user_namespace_.get()});
    const std::string said =
        (error.code == ErrorCode::not_found ? kNotFound : kOtherError) + error.message;
    static_cast<void>(!::write(failure, said.data(), said.size()));
    ::_exit(kExecFailed);
  }

  RunningProgram running_;
  FileDescriptor signals_;
  FileDescriptor user_namespace_;
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace

int watch_program(RunningProgram running) {
  return ExecHost(std::move(running)).run();
}

}  // namespace codeflare::node::internal
