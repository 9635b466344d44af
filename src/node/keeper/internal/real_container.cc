#include "node/keeper/internal/real_container.h"

#include "base/env/file_system.h"
#include "node/keeper/gpu_devices.h"
#include "node/keeper/internal/real_container_root.h"
#include "node/keeper/internal/real_exec_host.h"
#include "node/keeper/internal/real_process_tree.h"
#include "node/keeper/internal/real_system_calls.h"
#include "node/system/descriptors.h"
#include "node/system/limits.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <span>
#include <string>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <vector>

namespace codeflare::node::internal {

namespace {

constexpr int kInitFailed = 125;
constexpr std::string_view kDefaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void say(int fd, std::string_view text) {
  static_cast<void>(!::write(fd, text.data(), text.size()));
}

// One line, whatever the text is.
void say_error(int fd, const Error& error) {
  std::string line = "E " + error.message.substr(0, 2000);
  std::ranges::replace(line, '\n', ' ');
  say(fd, line + "\n");
}

std::string_view variable(const ContainerSpec& spec, std::string_view name) {
  for (std::string_view entry : spec.environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

bool is_program(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// As a shell would find it on the container's own PATH.
Result<std::string> find_program(const ContainerSpec& spec) {
  const std::string& program = spec.command.front();
  if (program.find('/') != std::string::npos) {
    struct stat info{};
    if (::stat(program.c_str(), &info) != 0) {
      return fail(
          not_found("exec: \"" + program + "\": stat " + program + ": no such file or directory"));
    }
    if (!is_program(program)) {
      return fail(permission_denied("exec: \"" + program + "\": permission denied"));
    }
    return program;
  }
  std::string_view path = variable(spec, "PATH");
  if (path.empty()) {
    path = kDefaultPath;
  }
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    const std::string candidate = join_path(path.substr(0, colon), program);
    if (colon > 0 && is_program(candidate)) {
      return candidate;
    }
    path.remove_prefix(std::min(colon + 1, path.size()));
  }
  return fail(not_found("exec: \"" + program + "\": executable file not found in $PATH"));
}

Result<void> drop_all_capabilities() {
  for (int capability = 0; capability <= 63; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EINVAL) {
      break;  // the kernel has no more
    }
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) {
    return fail(posix_error(errno, "drop capabilities"));
  }
  return {};
}

// A user namespace of its own is the last one: all others belong to the pod's, so that nothing in
// the container has a say about its mounts, processes of others or names.
Result<void> become_nobody(const ContainerSpec& spec, const ProgramPlace& place) {
  if (place.user_namespace >= 0) {
    if (::setns(place.user_namespace, CLONE_NEWUSER) != 0) {
      return fail(posix_error(errno, "enter the container's user namespace"));
    }
    return drop_all_capabilities();
  }
  if (::unshare(CLONE_NEWUSER) != 0) {
    return fail(posix_error(errno, "make the container's user namespace"));
  }
  const std::int64_t user = spec.run_as_user.value_or(0);
  const std::int64_t group = spec.run_as_group.value_or(user);
  TRY(map_ids(
      {.user = static_cast<std::uint32_t>(user), .group = static_cast<std::uint32_t>(group)}, {},
      "/proc/self/fd/" + std::to_string(place.proc)));
  return drop_all_capabilities();
}

// Where control groups do not: the kernel counts by user namespace.
Result<void> bound_processes(bool soft) {
  const std::int64_t most =
      soft ? soft_processes_max(::sysconf(_SC_NPROCESSORS_ONLN)) : kProcessesMax;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) {
    return fail(posix_error(errno, "read the limit of processes"));
  }
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(most));
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) {
    return fail(posix_error(errno, "limit processes"));
  }
  return {};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Result<void> enter_directory(const std::string& directory) {
  const std::string& where = directory.empty() ? "/" : directory;
  if (::chdir(where.c_str()) != 0) {
    return fail(posix_error(errno, "enter the working directory " + where));
  }
  return {};
}

// When the machine has no memory left, the kernel shall take a container before its keeper or the
// agent.
void raise_oom_score(std::int32_t score) {
  constexpr const char* kFile = "/proc/self/oom_score_adj";
  // For a moment: only who can be looked at may write there. Nobody else is in this namespace yet.
  const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  FileDescriptor file(::open(kFile, O_RDWR | O_CLOEXEC));
  std::array<char, 16> text{};
  if (file && ::read(file.get(), text.data(), text.size() - 1) > 0 &&
      std::atoi(text.data()) < score) {
    const std::string raised = std::to_string(score);
    static_cast<void>(!::pwrite(file.get(), raised.data(), raised.size(), 0));
  }
  ::prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
}

struct Ends {
  int input;
  int output;
  int error_output;
  int report;
  int control;
  int lock;  // -1: none
};

// Of what the keeper has open an init needs its own pipes alone: it must not hold up the ends of
// other containers and of connections.
void close_all_but(const Ends& ends) {
  std::array keep = {ends.input,  ends.output,  ends.error_output,
                     ends.report, ends.control, ends.lock};
  std::ranges::sort(keep);
  unsigned first = STDERR_FILENO + 1;
  for (int fd : keep) {
    if (fd < 0) {
      continue;
    }
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) {
      ::close_range(first, kept - 1, 0);
    }
    first = kept + 1;
  }
  ::close_range(first, ~0u, 0);
}

// Made in the container, for its /dev; whoever reads it is the keeper.
Result<Terminal> open_terminal(const Ends& ends) {
  TRY_ASSIGN(Terminal terminal, make_terminal(0, 0));
  const int outside = terminal.outside.get();
  TRY(send_with_descriptors(ends.control, kTerminalPacket, std::span(&outside, 1)));
  terminal.outside.close();
  return terminal;
}

// In the container's own /dev.
std::size_t count_seen_gpus(const SandboxSpec& sandbox, const std::string& container) {
  return static_cast<std::size_t>(std::ranges::count_if(
      gpus_of(sandbox.devices, container),
      [](std::int32_t gpu) { return ::access(("/dev/" + gpu_file(gpu)).c_str(), F_OK) == 0; }));
}

// PID 1 of the container. Never returns.
[[noreturn]] void run_init(const KeeperView& view, const SandboxSpec& sandbox, ContainerSpec spec,
                           const Ends& ends, pid_t keeper) {
  ::setsid();
  // First of all: what it maps and starts from now on counts.
  Result<void> joined;
  if (view.groups != nullptr) {
    joined = view.groups->join(spec.name);
  } else {
    static_cast<void>(!::nice(niceness_of(spec.cpu_request_milli)));
  }
  if (!joined) {
    say_error(ends.report, joined.error());
    ::_exit(kInitFailed);
  }
  close_all_but(ends);
  raise_oom_score(spec.oom_score);
  // A container must not outlive its keeper, or another keeper would start it a second time.
  ::prctl(PR_SET_PDEATHSIG, kill_all_signal(), 0, 0, 0);
  if (!view.isolated && ::getppid() != keeper) {
    ::_exit(kInitFailed);  // it has ended before that; in its namespace we would have ended with it
  }
  FileDescriptor proc;
  if (view.isolated) {
    Result<ContainerRoot> root = enter_container_root(view, sandbox, spec);
    if (!root) {
      say_error(ends.report, root.error());
      ::_exit(kInitFailed);
    }
    proc = std::move(root->proc);
    name_seen_gpus(spec.environment, count_seen_gpus(sandbox, spec.name));
    const int descriptor = root->files.get();
    // A keeper that does not hear of it counts less.
    static_cast<void>(send_with_descriptors(ends.control, kFilesPacket, std::span(&descriptor, 1)));
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  Result<Pipe> failure = make_pipe(O_CLOEXEC);
  if (!failure) {
    say_error(ends.report, failure.error());
    ::_exit(kInitFailed);
  }
  Result<Terminal> terminal = spec.terminal ? open_terminal(ends) : Terminal{};
  if (!terminal) {
    say_error(ends.report, terminal.error());
    ::_exit(kInitFailed);
  }
  const pid_t program = ::fork();
  if (program == 0) {
    if (terminal->inside) {
      ::setsid();
      ::ioctl(terminal->inside.get(), TIOCSCTTY, 0);
    }
    const int inside = terminal->inside.get();
    ::dup2(inside >= 0 ? inside : ends.input, STDIN_FILENO);
    ::dup2(inside >= 0 ? inside : ends.output, STDOUT_FILENO);
    ::dup2(inside >= 0 ? inside : ends.error_output, STDERR_FILENO);
    // A container that is dumpable again can be looked at by its own kind only.
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    say_error(failure->writing.get(), become_program(view, spec, {.proc = proc.get()}));
    ::_exit(kInitFailed);
  }
  if (program < 0) {
    say_error(ends.report, posix_error(errno, "fork"));
    ::_exit(kInitFailed);
  }
  failure->writing.close();
  proc.close();
  // An init that kept them would hide from the keeper that nobody writes any more.
  ::close(ends.output);
  ::close(ends.error_output);
  ::close(ends.input);
  terminal->inside.close();
  std::string said;
  std::array<char, 4096> buffer{};
  for (ssize_t size = 0;
       (size = ::read(failure->reading.get(), buffer.data(), buffer.size())) > 0;) {
    said.append(buffer.data(), static_cast<std::size_t>(size));
  }
  say(ends.report, said.empty() ? "R\n" : said);
  const int status = watch_program(
      {.view = view, .spec = spec, .program = program, .control = FileDescriptor(ends.control)});
  if (!view.isolated) {
    kill_descendants();
  }
  if (said.empty()) {
    say(ends.report, "S " + std::to_string(status) + "\n");
  }
  ::_exit(0);
}

}  // namespace

int kill_all_signal() {
  return SIGRTMAX;
}

Error become_program(const KeeperView& view, ContainerSpec spec, const ProgramPlace& place) {
  ::setsid();
  const auto ready = [&]() -> Result<std::string> {
    if (view.isolated) {
      TRY(become_nobody(spec, place));
      TRY(bound_processes(view.groups == nullptr));
    }
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
      return fail(posix_error(errno, "forbid new privileges"));
    }
    TRY(enter_directory(spec.working_directory));
    TRY_ASSIGN(std::string program, find_program(spec));
    if (view.isolated) {
      // Last: what comes before needs some of them.
      TRY(forbid_system_calls());
    }
    return program;
  }();
  if (!ready) {
    return ready.error();
  }
  for (int signal = 1; signal < NSIG; ++signal) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(ready->c_str(), pointers_to(spec.command).data(), pointers_to(spec.environment).data());
  return posix_error(errno, "exec: \"" + spec.command.front() + "\"");
}

Result<StartedContainer> start_container(const KeeperView& view, const SandboxSpec& sandbox,
                                         const ContainerSpec& spec) {
  TRY_ASSIGN(Pipe output, make_pipe(O_CLOEXEC));
  TRY_ASSIGN(Pipe error_output, make_pipe(O_CLOEXEC));
  TRY_ASSIGN(Pipe report, make_pipe(O_CLOEXEC));
  TRY_ASSIGN(auto control, make_packet_pair());
  Pipe input;
  if (spec.input && !spec.terminal) {
    TRY_ASSIGN(input, make_pipe(O_CLOEXEC));
  } else {
    input.reading = FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (!input.reading) {
    return fail(posix_error(errno, "open /dev/null"));
  }
  for (const FileDescriptor* ours : {&output.reading, &error_output.reading, &report.reading}) {
    ::fcntl(ours->get(), F_SETFL, O_NONBLOCK);
  }
  const pid_t keeper = ::getpid();
  const long flags = (view.isolated ? CLONE_NEWNS | CLONE_NEWPID : 0) | SIGCHLD;
  // An init never has a moment in which a signal would end it instead of being looked at.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const long child = ::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
  const int why = errno;
  if (child != 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  if (child < 0) {
    return fail(posix_error(why, "make the container's namespaces"));
  }
  if (child == 0) {
    run_init(view, sandbox, spec,
             {.input = input.reading.get(),
              .output = output.writing.get(),
              .error_output = error_output.writing.get(),
              .report = report.writing.get(),
              .control = control.second.get(),
              .lock = view.lock},
             keeper);
  }
  return StartedContainer{.init = static_cast<pid_t>(child),
                          .output = std::move(output.reading),
                          .error_output = std::move(error_output.reading),
                          .report = std::move(report.reading),
                          .control = std::move(control.first),
                          .input = std::move(input.writing)};
}

}  // namespace codeflare::node::internal
