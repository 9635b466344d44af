#pragma once

#include "base/env/launcher.h"
#include "base/posix.h"
#include "base/result.h"

#include <string>
#include <sys/types.h>

namespace codeflare::internal {

// A process that has been started, with our ends of its pipes (non-blocking; empty where the child
// inherited ours). Whoever holds it must reap `pid`.
struct Spawned {
  pid_t pid = -1;
  bool own_group = false;
  FileDescriptor exited;  // readable once the process has ended
  FileDescriptor input;
  FileDescriptor output;
  FileDescriptor error_output;
};

Result<Spawned> spawn(const Command& command);

}  // namespace codeflare::internal
