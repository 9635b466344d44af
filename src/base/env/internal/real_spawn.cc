#include "base/env/internal/real_spawn.h"

#include "base/env/file_system.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <map>
#include <spawn.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace codeflare::internal {

namespace {

// Above the three standard descriptors: if we were started with one of them closed, a pipe could
// get its number and be overwritten while the child's are being set up.
Result<void> move_up(FileDescriptor& fd) {
  if (fd.get() <= STDERR_FILENO) {
    int moved = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) {
      return fail(posix_error(errno, "duplicate a pipe"));
    }
    fd = FileDescriptor(moved);
  }
  return {};
}

}  // namespace

Result<Pipe> make_pipe(bool we_read) {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  FileDescriptor reading(fds[0]);
  FileDescriptor writing(fds[1]);
  TRY(move_up(reading));
  TRY(move_up(writing));
  Pipe pipe{std::move(we_read ? reading : writing), std::move(we_read ? writing : reading)};
  if (::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    return fail(posix_error(errno, "set up a pipe"));
  }
  return pipe;
}

namespace {

std::map<std::string, std::string> variables_for(const Command& command) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  for (const auto& [name, value] : command.variables) {
    if (value) {
      variables[name] = *value;
    } else {
      variables.erase(name);
    }
  }
  return variables;
}

bool is_program(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

Result<std::string> find_program(const std::string& program, std::string_view search_path) {
  if (program.empty()) {
    return fail(invalid_argument("no program given"));
  }
  if (program.contains('/')) {
    return program;
  }
  while (true) {
    auto colon = search_path.find(':');
    std::string_view directory = search_path.substr(0, colon);
    // Empty entries once meant the working directory; that is a trap, not a feature.
    if (std::string candidate = join_path(directory, program);
        !directory.empty() && is_program(candidate)) {
      return candidate;
    }
    if (colon == std::string_view::npos) {
      return fail(not_found("program '" + program + "' not found on PATH"));
    }
    search_path.remove_prefix(colon + 1);
  }
}

// posix_spawn's two argument objects, set up for a child that inherits nothing by accident.
class SpawnSetup {
 public:
  SpawnSetup() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  ~SpawnSetup() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  void connect(const FileDescriptor& theirs, int as) {
    if (theirs) {
      ::posix_spawn_file_actions_adddup2(&actions_, theirs.get(), as);
    }
  }

  pid_t start(const Command& command, const std::string& path, char* const* arguments,
              char* const* variables, bool own_group, int& error) {
    if (!command.working_directory.empty()) {
      ::posix_spawn_file_actions_addchdir_np(&actions_, command.working_directory.c_str());
    }
    // Also what libraries opened without close-on-exec.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t signals;
    sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (own_group) {
      flags |= POSIX_SPAWN_SETPGROUP;
      ::posix_spawnattr_setpgroup(&attributes_, 0);
    }
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
    pid_t pid = -1;
    error = ::posix_spawn(&pid, path.c_str(), &actions_, &attributes_, arguments, variables);
    return pid;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

Error start_error(int error, const Command& command) {
  struct stat info{};
  const std::string& directory = command.working_directory;
  if (!directory.empty() && (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))) {
    return failed_precondition("start " + command.program + ": working directory " + directory +
                               " does not exist");
  }
  if (error == ENOENT && !is_program(command.program)) {
    return not_found("program '" + command.program + "' not found");
  }
  return posix_error(error, "start " + command.program);
}

// glibc 2.36 declares its wrapper without C linkage.
int open_pidfd(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

void kill_and_reap(pid_t pid) {
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Prepared> prepare(const Command& command) {
  std::map<std::string, std::string> variables = variables_for(command);
  auto search_path = variables.find("PATH");
  Prepared prepared;
  TRY_ASSIGN(prepared.path,
             find_program(command.program,
                          search_path == variables.end() ? "/usr/bin:/bin" : search_path->second));
  prepared.arguments.push_back(command.program);
  prepared.arguments.insert(prepared.arguments.end(), command.arguments.begin(),
                            command.arguments.end());
  for (const auto& [name, value] : variables) {
    prepared.settings.push_back(name + "=" + value);
  }
  return prepared;
}

Result<Spawned> spawn(const Command& command) {
  TRY_ASSIGN(Prepared prepared, prepare(command));
  Pipe input;
  Pipe output;
  Pipe error_output;
  if (!command.inherit_stdin) {
    TRY_ASSIGN(input, make_pipe(false));
  }
  TRY_ASSIGN(output, make_pipe(true));
  if (!command.inherit_stderr) {
    TRY_ASSIGN(error_output, make_pipe(true));
  }

  Spawned child;
  child.own_group = !command.inherit_stdin;
  SpawnSetup setup;
  setup.connect(input.theirs, STDIN_FILENO);
  setup.connect(output.theirs, STDOUT_FILENO);
  setup.connect(error_output.theirs, STDERR_FILENO);
  int error = 0;
  child.pid = setup.start(command, prepared.path, pointers_to(prepared.arguments).data(),
                          pointers_to(prepared.settings).data(), child.own_group, error);
  if (error != 0) {
    return fail(start_error(error, command));
  }
  child.exited = FileDescriptor(open_pidfd(child.pid));
  if (!child.exited) {
    Error failure = posix_error(errno, "watch the process of " + command.program);
    kill_and_reap(child.pid);
    return fail(std::move(failure));
  }
  child.input = std::move(input.ours);
  child.output = std::move(output.ours);
  child.error_output = std::move(error_output.ours);
  return child;
}

}  // namespace codeflare::internal
