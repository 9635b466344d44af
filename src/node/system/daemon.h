#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

// How keeper and holder start: a short program prepares a process that outlives it, waits until
// that process is ready, and ends.
namespace codeflare::node {

// `codeflare NAME [--probe] DIR`. Directories come absolute and without links.
struct DaemonProgram {
  std::string_view name;
  int (*start)(const std::string& directory);  // returns the exit code
  // `unsupported` when the system does not allow what the process needs.
  Result<void> (*probe)(const std::string& empty_directory);
};
// Arguments are those behind the name. Returns the exit code.
int daemon_main(const DaemonProgram& program, int count, char** arguments);

// Writes to standard error and returns the exit code of a failure.
int complain(std::string_view text);
// 0 for success; complains otherwise, with kForbiddenExit (forbidden.h) for `unsupported`.
int exit_code_of(const Result<void>& done);

// A Unix socket with this name in the directory, for our user alone.
struct DaemonSocket {
  std::string name;
  int backlog = 8;
};
Result<FileDescriptor> listen_in(const std::string& directory, const DaemonSocket& socket);

// Held as long as the descriptor is open in any process; nothing when another process has it.
Result<std::optional<FileDescriptor>> take_lock(const std::string& path);

// Closes all descriptors but these; the standard ones lead nowhere from now on.
void let_go_of_everything(std::vector<int> but);

struct ForkedChild {
  pid_t process = 0;
  std::string report;
};
// Forks, and returns when no process can add to the report any more. `child` runs in the new
// process with the descriptor that takes the report, and never returns.
Result<ForkedChild> fork_and_hear(const std::function<void(FileDescriptor ready)>& child);
void say(const FileDescriptor& ready, std::string_view report);

}  // namespace codeflare::node
