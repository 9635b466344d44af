#include "base/posix.h"
#include "node/keeper/internal/real_join_network.h"
#include "node/keeper/internal/real_keeper.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/keeper/pod_keeper.h"
#include "node/system/daemon.h"
#include "node/system/mounts.h"
#include "node/system/namespaces.h"
#include "node/wire/message.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node {

namespace {

using internal::Keeper;
using internal::KeeperView;

constexpr const char* kThisProgram = "/proc/self/exe";
constexpr const char* kInside = "--inside";  // of a keeper's namespaces; for ourselves alone

// Descriptors that the keeper has from the process that prepared it.
struct Inherited {
  FileDescriptor lock;  // held as long as the keeper lives: there is one per pod
  FileDescriptor listener;
  FileDescriptor ready;                                    // takes "R", or "E" and a reason
  std::shared_ptr<const internal::GroupHandles> groups{};  // null: none
};

// All that the keeper keeps of whoever started it.
std::vector<int> descriptors_of(const Inherited& inherited) {
  std::vector<int> all = {inherited.lock.get(), inherited.listener.get(), inherited.ready.get()};
  if (inherited.groups != nullptr) {
    std::ranges::copy(inherited.groups->descriptors(), std::back_inserter(all));
  }
  return all;
}

// Never returns.
[[noreturn]] void become_keeper(const SandboxSpec& spec, const std::string& directory,
                                Inherited inherited) {
  let_go_of_everything(descriptors_of(inherited));
  FileDescriptor& ready = inherited.ready;
  Result<KeeperView> view = spec.isolated ? internal::move_into_pod_root(spec, directory)
                                          : KeeperView{.isolated = false, .pod = directory};
  if (!view) {
    say(ready, "E" + view.error().message);
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
  say(ready, "R");
  ready.close();
  ::_exit(keeper.run());
}

// The process between us and the keeper ends at once, so that the keeper belongs to the machine's
// init.
[[noreturn]] void fork_keeper(const SandboxSpec& spec, const std::string& directory,
                              Inherited inherited) {
  const pid_t keeper = ::fork();
  if (keeper == 0) {
    become_keeper(spec, directory, std::move(inherited));
  }
  if (keeper < 0) {
    say(inherited.ready, "E" + posix_error(errno, "fork the keeper").message);
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
      !is_same_file(kThisProgram, name.data()) || !make_mounts_private() ||
      !bind_mount(name.data(), program, true)) {
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
      return enter_namespaces();
    };
    if (const Result<void> entered = enter(); !entered) {
      say(inherited.ready, "E" + entered.error().message);
      ::_exit(1);
    }
    run_from_read_only_mount(directory, inherited);
  }
  fork_keeper(spec, directory, std::move(inherited));
}

Result<SandboxSpec> read_spec(const std::string& directory) {
  TRY_ASSIGN(const std::string text, read_whole_file(directory + "/sandbox.json"));
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
    say(inherited.ready, "E" + groups.error().message);
    ::_exit(1);
  }
  inherited.groups = *std::move(groups);
  fork_keeper(*spec, directory, std::move(inherited));
}

Result<ForkedChild> prepare_and_start(const std::string& directory) {
  TRY_ASSIGN(const SandboxSpec spec, read_spec(directory));
  TRY_ASSIGN(std::optional<FileDescriptor> lock, take_lock(directory + "/keeper.lock"));
  if (!lock) {
    return fail(failed_precondition("the pod has a keeper already"));
  }
  TRY_ASSIGN(FileDescriptor listener, listen_in(directory, {.name = "keeper.sock"}));
  TRY_ASSIGN(auto groups, open_groups(spec));
  return fork_and_hear([&](FileDescriptor ready) {
    start_keeper(spec, directory,
                 {.lock = *std::move(lock),
                  .listener = std::move(listener),
                  .ready = std::move(ready),
                  .groups = std::move(groups)});
  });
}

int start(const std::string& directory) {
  const Result<ForkedChild> keeper = prepare_and_start(directory);
  if (!keeper) {
    return complain(keeper.error().message);
  }
  if (keeper->report == "R") {
    return 0;
  }
  return complain(keeper->report.starts_with('E')
                      ? std::string_view(keeper->report).substr(1)
                      : std::string_view("the keeper ended before it was ready"));
}

}  // namespace

int pod_keeper_main(int count, char** arguments) {
  if (count == 5 && std::string_view(arguments[1]) == kInside) {
    go_on_inside(arguments[0], arguments + 2);
  }
  return daemon_main({.name = "pod-keeper", .start = start, .probe = internal::probe_namespaces},
                     count, arguments);
}

}  // namespace codeflare::node
