#include "base/posix.h"
#include "node/holder/internal/real_holder.h"
#include "node/holder/node_holder.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/system/forbidden.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node {

namespace {

using internal::Anchor;
using internal::Holder;
using internal::NetworkPlan;
using internal::PodLinks;

constexpr int kUsageError = 2;
constexpr std::uint32_t kProbeAddress = 2;  // in the pods' block

int complain(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  return 1;
}

void say(int fd, const std::string& text) {
  static_cast<void>(!::write(fd, text.data(), text.size()));
}

Result<void> enter_new_namespaces() {
  const internal::OwnIds outside{.user = ::geteuid(), .group = ::getegid()};
  TRY(internal::make_namespaces(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS,
                                "make user, network and mount namespaces"));
  return internal::map_ids({}, outside);
}

Result<FileDescriptor> listen_in(const std::string& directory) {
  FileDescriptor place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!place || !listener) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::unlink((directory + "/holder.sock").c_str());
  const std::string path = "/proc/self/fd/" + std::to_string(place.get()) + "/holder.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::umask(0077);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 64) != 0) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::umask(0022);
  return listener;
}

// What the holder has from the process that prepared it.
struct Inherited {
  FileDescriptor lock;  // held as long as the holder lives: there is one per directory
  FileDescriptor listener;
  FileDescriptor ready;  // takes "R", or a letter and a reason
};

// The holder holds nothing of whoever started it.
void let_go_of_everything(const Inherited& but) {
  FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nothing.get(), fd);
  }
  nothing.close();
  std::array<int, 3> keep = {but.lock.get(), but.listener.get(), but.ready.get()};
  std::ranges::sort(keep);
  unsigned first = STDERR_FILENO + 1;
  for (int fd : keep) {
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) {
      ::close_range(first, kept - 1, 0);
    }
    first = kept + 1;
  }
  ::close_range(first, ~0u, 0);
  // Two descriptors for every connection to a service.
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
}

Result<void> build_and_attach(const NetworkPlan& plan, const std::string& directory) {
  TRY(enter_new_namespaces());
  TRY(PodLinks::build(plan, directory));
  TRY_ASSIGN(PodLinks links, PodLinks::open(plan, directory));
  const Ipv4 address{plan.pods.base.value + kProbeAddress};
  TRY(links.attach("probe", address));
  return links.detach("probe", address);
}

// All that can be forbidden is tried here: a system that allows some of it shall be found out now
// and not with the first pod. `unsupported` means that it does not, other codes nothing.
Result<void> build_and_try(const NetworkPlan& plan, const std::string& directory) {
  Result<void> tried = build_and_attach(plan, directory);
  if (tried) {
    return tried;
  }
  return fail(is_forbidden(tried.error()) ? unsupported(tried.error().message)
                                          : unavailable(tried.error().message));
}

// "F" and why, when the system does not allow it; "E" for all else.
std::string report_of(const Error& error) {
  return (error.code == ErrorCode::unsupported ? "F" : "E") + error.message;
}

Error error_of(const std::string& report) {
  return report.starts_with('F')   ? unsupported(report.substr(1))
         : report.starts_with('E') ? failed_precondition(report.substr(1))
                                   : failed_precondition("the holder ended before it was ready");
}

// In namespaces of its own, or in those that the anchor of an earlier holder has kept.
Result<Anchor> settle(const std::string& directory, const NetworkPlan& plan) {
  TRY_ASSIGN(std::optional<Anchor> anchor, internal::find_anchor(directory));
  if (anchor) {
    TRY(internal::join_anchor(*anchor));
    return *std::move(anchor);
  }
  TRY(build_and_try(plan, directory + "/run"));
  return internal::start_anchor(directory);
}

Result<void> serve(const std::string& directory, Inherited& inherited) {
  const NetworkPlan plan;
  TRY_ASSIGN(Anchor anchor, settle(directory, plan));
  TRY_ASSIGN(PodLinks links, PodLinks::open(plan, directory + "/run"));
  TRY_ASSIGN(internal::Poller poller, internal::Poller::open());
  Holder holder({.directory = directory,
                 .plan = plan,
                 .listener = std::move(inherited.listener),
                 .links = std::move(links),
                 .anchor = std::move(anchor),
                 .poller = std::move(poller)});
  TRY(holder.open());
  say(inherited.ready.get(), "R");
  inherited.ready.close();
  return holder.run();
}

[[noreturn]] void become_holder(const std::string& directory, Inherited inherited) {
  ::setsid();
  let_go_of_everything(inherited);
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "codeflare-hold", 0, 0, 0);
  const Result<void> served = serve(directory, inherited);
  if (!served && inherited.ready) {
    say(inherited.ready.get(), report_of(served.error()));
  }
  ::_exit(served ? 0 : 1);
}

// True when it has become ours.
Result<bool> take_lock(const std::string& directory, FileDescriptor& lock) {
  const std::string path = directory + "/holder.lock";
  lock = FileDescriptor(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!lock) {
    return fail(posix_error(errno, "open " + path));
  }
  return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

std::string read_all(const FileDescriptor& pipe) {
  std::string said;
  std::array<char, 2048> buffer{};
  for (ssize_t size = 0; (size = ::read(pipe.get(), buffer.data(), buffer.size())) != 0;) {
    if (size > 0) {
      said.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      break;
    }
  }
  return said;
}

Result<void> start(const std::string& directory) {
  FileDescriptor lock;
  TRY_ASSIGN(const bool ours, take_lock(directory, lock));
  if (!ours) {
    return {};
  }
  TRY_ASSIGN(FileDescriptor listener, listen_in(directory));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(posix_error(errno, "fork"));
  }
  if (child == 0) {
    reading.close();
    become_holder(
        directory,
        {.lock = std::move(lock), .listener = std::move(listener), .ready = std::move(writing)});
  }
  writing.close();
  const std::string said = read_all(reading);
  if (said.starts_with('R')) {
    std::printf("%d\n", static_cast<int>(child));
    return {};
  }
  return fail(error_of(said));
}

// In a child; nothing of it stays.
Result<void> probe(const std::string& empty_directory) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return fail(posix_error(errno, "fork"));
  }
  if (child == 0) {
    const Result<void> tried = build_and_try({}, empty_directory);
    say(writing.get(), tried ? "R" : report_of(tried.error()));
    ::_exit(0);
  }
  writing.close();
  const std::string said = read_all(reading);
  ::waitpid(child, nullptr, 0);
  return said == "R" ? Result<void>() : fail(error_of(said));
}

}  // namespace

int node_holder_main(int count, char** arguments) {
  const bool only_probe = count == 2 && std::string_view(arguments[0]) == "--probe";
  if (!only_probe && count != 1) {
    complain("usage: codeflare node-holder [--probe] DIR");
    return kUsageError;
  }
  std::array<char, PATH_MAX> directory{};
  if (::realpath(arguments[count - 1], directory.data()) == nullptr) {
    return complain(posix_error(errno, std::string("find ") + arguments[count - 1]).message);
  }
  const Result<void> done = only_probe ? probe(directory.data()) : start(directory.data());
  if (!done) {
    complain(done.error().message);
    return done.error().code == ErrorCode::unsupported ? kForbiddenExit : 1;
  }
  return 0;
}

}  // namespace codeflare::node
