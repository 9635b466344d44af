#pragma once

#include "base/env/launcher.h"
#include "base/posix.h"
#include "base/result.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace codeflare::internal {

// A process that has been started, with our ends of its pipes (non-blocking; empty where the child
// inherited ours). The holder must reap `pid`.
struct Spawned {
  pid_t pid = -1;
  bool own_group = false;
  FileDescriptor exited;  // readable once the process has ended
  FileDescriptor input;
  FileDescriptor output;
  FileDescriptor error_output;
};

Result<Spawned> spawn(const Command& command);

// The parts of it, for other ways to start a process.

struct Pipe {
  FileDescriptor ours;  // does not block
  FileDescriptor theirs;
};
// Both ends lie above the three standard descriptors.
Result<Pipe> make_pipe(bool we_read);

// Path, arguments and environment for exec. Fails with not_found when the program is not on PATH.
struct Prepared {
  std::string path{};
  std::vector<std::string> arguments{};
  std::vector<std::string> settings{};
};
Result<Prepared> prepare(const Command& command);
// Ends with a null pointer.
std::vector<char*> pointers_to(std::vector<std::string>& texts);
Error start_error(int error, const Command& command);
int open_pidfd(pid_t pid);
void kill_and_reap(pid_t pid);

}  // namespace codeflare::internal
