#include "base/posix.h"
#include "node/keeper/internal/real_join_network.h"
#include "node/keeper/internal/real_keeper.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/keeper/pod_keeper.h"
#include "node/system/forbidden.h"
#include "node/system/mounts.h"
#include "node/wire/message.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

using internal::Keeper;
using internal::KeeperView;

constexpr int kUsageError = 2;
constexpr const char* kThisProgram = "/proc/self/exe";
constexpr const char* kInside = "--inside";  // of a keeper's namespaces; for ourselves alone

int complain(std::string_view text) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  return 1;
}

Result<std::string> read_whole(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  std::string text;
  std::array<char, 16384> buffer{};
  for (ssize_t size = 0; (size = ::read(file.get(), buffer.data(), buffer.size())) != 0;) {
    if (size < 0) {
      return fail(posix_error(errno, "read " + path));
    }
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// Socket addresses are short and paths may not be: the name is looked up from the directory.
Result<FileDescriptor> listen_in(const std::string& directory) {
  FileDescriptor place(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  FileDescriptor listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!place || !listener) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::unlink((directory + "/keeper.sock").c_str());
  const std::string path = "/proc/self/fd/" + std::to_string(place.get()) + "/keeper.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::umask(0077);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 8) != 0) {
    return fail(posix_error(errno, "listen in " + directory));
  }
  ::umask(0022);
  return listener;
}

void say(int fd, const std::string& text) {
  static_cast<void>(!::write(fd, text.data(), text.size()));
}

// What the keeper has from the process that prepared it.
struct Inherited {
  FileDescriptor lock;  // held as long as the keeper lives: there is one per pod
  FileDescriptor listener;
  FileDescriptor ready;                                    // takes "R", or "E" and a reason
  std::shared_ptr<const internal::GroupHandles> groups{};  // null: none
};

// The keeper holds nothing of whoever started it.
void let_go_of_everything(const Inherited& but) {
  FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(nothing.get(), fd);
  }
  nothing.close();
  std::vector<int> keep = {but.lock.get(), but.listener.get(), but.ready.get()};
  if (but.groups != nullptr) {
    std::ranges::copy(but.groups->descriptors(), std::back_inserter(keep));
  }
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
}

Result<FileDescriptor> take_lock(const std::string& directory) {
  const std::string path = directory + "/keeper.lock";
  FileDescriptor file(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!file) {
    return fail(posix_error(errno, "open " + path));
  }
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(failed_precondition("the pod has a keeper already"));
  }
  return file;
}

// Never returns.
[[noreturn]] void become_keeper(const SandboxSpec& spec, const std::string& directory,
                                Inherited inherited) {
  let_go_of_everything(inherited);
  FileDescriptor& ready = inherited.ready;
  Result<KeeperView> view = spec.isolated ? internal::move_into_pod_root(spec, directory)
                                          : KeeperView{.isolated = false, .pod = directory};
  if (!view) {
    say(ready.get(), "E" + view.error().message);
    ::_exit(1);
  }
  view->groups = std::move(inherited.groups);
  view->lock = inherited.lock.get();
  if (spec.isolated) {
    // Nothing in a container may look at us, or through us at what only we see.
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  ::prctl(PR_SET_NAME, "codeflare-keep", 0, 0, 0);
  Keeper keeper(*std::move(view), spec, std::move(inherited.listener));
  say(ready.get(), "R");
  ready.close();
  ::_exit(keeper.run());
}

// The process between us and the keeper ends at once, so that the keeper belongs to the machine's
// init.
[[noreturn]] void fork_keeper(const SandboxSpec& spec, const std::string& directory,
                              Inherited inherited) {
  const int ready = inherited.ready.get();
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    become_keeper(spec, directory, std::move(inherited));
  }
  if (keeper < 0) {
    say(ready, "E" + posix_error(errno, "fork the keeper").message);
  } else {
    std::printf("%d\n", static_cast<int>(keeper));
    std::fflush(stdout);
  }
  ::_exit(keeper < 0 ? 1 : 0);
}

bool is_same_file(const char* one, const char* other) {
  struct stat first{};
  struct stat second{};
  return ::stat(one, &first) == 0 && ::stat(other, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

// Runs on as the same program, but from a mount that is read-only: what a container is before it
// becomes its own program is this one, and through /proc it could be reached for writing. Returns
// when that is not to be had, for instance because the file has been replaced meanwhile.
void run_from_read_only_mount(const std::string& directory, const Inherited& inherited) {
  // By its name: the link itself leads into the mounts that we have left.
  std::array<char, PATH_MAX> name{};
  const std::string program = directory + "/program";
  if (::readlink(kThisProgram, name.data(), name.size() - 1) <= 0 ||
      !is_same_file(kThisProgram, name.data()) || !internal::make_mounts_private() ||
      !internal::bind_mount(name.data(), program, true)) {
    return;
  }
  // The directory where it always is: by it a keeper is found among all processes.
  std::vector<std::string> words = {"codeflare", "pod-keeper", directory, kInside};
  const std::array descriptors = {inherited.lock.get(), inherited.listener.get(),
                                  inherited.ready.get()};
  for (const int descriptor : descriptors) {
    words.push_back(std::to_string(descriptor));
    ::fcntl(descriptor, F_SETFD, 0);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  for (const int descriptor : descriptors) {
    ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
}

// In a session of its own.
[[noreturn]] void start_keeper(const SandboxSpec& spec, const std::string& directory,
                               Inherited inherited) {
  ::setsid();
  if (spec.isolated) {
    const auto enter = [&]() -> Result<void> {
      TRY(internal::let_go_of_keys_and_groups());
      if (!spec.network.empty()) {
        TRY(internal::join_network(spec.network, spec.uid));
      }
      return internal::enter_namespaces();
    };
    if (const Result<void> entered = enter(); !entered) {
      say(inherited.ready.get(), "E" + entered.error().message);
      ::_exit(1);
    }
    run_from_read_only_mount(directory, inherited);
  }
  fork_keeper(spec, directory, std::move(inherited));
}

Result<SandboxSpec> read_spec(const std::string& directory) {
  TRY_ASSIGN(const std::string text, read_whole(directory + "/sandbox.json"));
  return parse_message<SandboxSpec>(text);
}

Result<std::shared_ptr<const internal::GroupHandles>> open_groups(const SandboxSpec& spec) {
  TRY_ASSIGN(internal::GroupHandles groups, internal::GroupHandles::open(spec.groups));
  return groups.any() ? std::make_shared<const internal::GroupHandles>(std::move(groups)) : nullptr;
}

// Where run_from_read_only_mount() goes on.
[[noreturn]] void go_on_inside(const std::string& directory, char** numbers) {
  std::array<FileDescriptor, 3> given;
  for (std::size_t i = 0; i < given.size(); ++i) {
    given[i] = FileDescriptor(std::atoi(numbers[i]));
    ::fcntl(given[i].get(), F_SETFD, FD_CLOEXEC);
  }
  Inherited inherited{
      .lock = std::move(given[0]), .listener = std::move(given[1]), .ready = std::move(given[2])};
  Result<SandboxSpec> spec = read_spec(directory);
  auto groups = spec ? open_groups(*spec) : fail(spec.error());
  if (!groups) {
    say(inherited.ready.get(), "E" + groups.error().message);
    ::_exit(1);
  }
  inherited.groups = *std::move(groups);
  fork_keeper(*spec, directory, std::move(inherited));
}

int start(const std::string& directory) {
  const Result<SandboxSpec> spec = read_spec(directory);
  if (!spec) {
    return complain(spec.error().message);
  }
  Result<FileDescriptor> lock = take_lock(directory);
  if (!lock) {
    return complain(lock.error().message);
  }
  Result<FileDescriptor> listener = listen_in(directory);
  if (!listener) {
    return complain(listener.error().message);
  }
  auto groups = open_groups(*spec);
  if (!groups) {
    return complain(groups.error().message);
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return complain(posix_error(errno, "make a pipe").message);
  }
  FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    reading.close();
    start_keeper(*spec, directory,
                 {.lock = *std::move(lock),
                  .listener = *std::move(listener),
                  .ready = std::move(writing),
                  .groups = *std::move(groups)});
  }
  if (child < 0) {
    return complain(posix_error(errno, "fork").message);
  }
  writing.close();
  std::string said;
  std::array<char, 2048> buffer{};
  for (ssize_t size = 0; (size = ::read(reading.get(), buffer.data(), buffer.size())) != 0;) {
    if (size > 0) {
      said.append(buffer.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      break;
    }
  }
  if (said == "R") {
    return 0;
  }
  return complain(said.starts_with('E') ? std::string_view(said).substr(1)
                                        : std::string_view("the keeper ended before it was ready"));
}

}  // namespace

int pod_keeper_main(int count, char** arguments) {
  if (count == 5 && std::string_view(arguments[1]) == kInside) {
    go_on_inside(arguments[0], arguments + 2);
  }
  const bool probe = count == 2 && std::string_view(arguments[0]) == "--probe";
  if (!probe && count != 1) {
    complain("usage: codeflare pod-keeper [--probe] DIR");
    return kUsageError;
  }
  std::array<char, PATH_MAX> directory{};
  if (::realpath(arguments[count - 1], directory.data()) == nullptr) {
    return complain(posix_error(errno, std::string("find ") + arguments[count - 1]).message);
  }
  if (!probe) {
    return start(directory.data());
  }
  const Result<void> allowed = internal::probe_namespaces(directory.data());
  if (!allowed) {
    complain(allowed.error().message);
    return allowed.error().code == ErrorCode::unsupported ? kForbiddenExit : 1;
  }
  return 0;
}

}  // namespace codeflare::node
