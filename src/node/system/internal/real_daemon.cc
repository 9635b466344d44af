#include "node/system/daemon.h"
#include "node/system/forbidden.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

constexpr int kUsageError = 2;

std::string read_to_end(const FileDescriptor& pipe) {
  std::string text;
  std::array<char, 2048> buffer{};
  for (ssize_t size = 0; (size = ::read(pipe.get(), buffer.data(), buffer.size())) != 0;) {
    if (size > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      break;
    }
  }
  return text;
}

}  // namespace

int complain(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  return 1;
}

int exit_code_of(const Result<void>& done) {
  if (done) {
    return 0;
  }
  complain(done.error().message);
  return done.error().code == ErrorCode::unsupported ? kForbiddenExit : 1;
}

int daemon_main(const DaemonProgram& program, int count, char** arguments) {
  const bool probe = count == 2 && std::string_view(arguments[0]) == "--probe";
  if (!probe && count != 1) {
    complain("usage: codeflare " + std::string(program.name) + " [--probe] DIR");
    return kUsageError;
  }
  std::array<char, PATH_MAX> directory{};
  if (::realpath(arguments[count - 1], directory.data()) == nullptr) {
    return complain(posix_error(errno, std::string("find ") + arguments[count - 1]).message);
  }
  return probe ? exit_code_of(program.probe(directory.data())) : program.start(directory.data());
}

// Socket addresses are short and paths may not be: the name is looked up from the directory.
Result<FileDescriptor> listen_in(const std::string& directory, const DaemonSocket& socket) {
  FileDescriptor parent(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!parent || !listener) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::unlink((directory + "/" + socket.name).c_str());
  const std::string path = "/proc/self/fd/" + std::to_string(parent.get()) + "/" + socket.name;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::umask(0077);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), socket.backlog) != 0) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::umask(0022);
  return listener;
}

Result<std::optional<FileDescriptor>> take_lock(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::nullopt;
  }
  return std::optional(std::move(file));
}

void let_go_of_everything(std::vector<int> but) {
  FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nothing.get(), fd);
  }
  nothing.close();
  std::ranges::sort(but);
  unsigned first = STDERR_FILENO + 1;
  for (int fd : but) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) {
      ::close_range(first, kept - 1, 0);
    }
    first = kept + 1;
  }
  ::close_range(first, ~0u, 0);
}

Result<ForkedChild> fork_and_hear(const std::function<void(FileDescriptor ready)>& child) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t process = ::fork();
  if (process < 0) {
    return fail(posix_error(errno, "fork"));
  }
  if (process == 0) {
    reading.close();
    child(std::move(writing));
    ::_exit(1);
  }
  writing.close();
  return ForkedChild{.process = process, .report = read_to_end(reading)};
}

void say(const FileDescriptor& ready, std::string_view report) {
  static_cast<void>(!::write(ready.get(), report.data(), report.size()));
}

}  // namespace codeflare::node
