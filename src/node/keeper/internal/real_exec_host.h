#pragma once

#include "base/posix.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/wire/keeper_protocol.h"

#include <sys/types.h>

namespace codeflare::node::internal {

// The parts of an init whose program runs.
struct RunningProgram {
  const KeeperView& view;
  const ContainerSpec& spec;
  pid_t program = -1;
  // Packets from the keeper: a request to exec, with the connection of whoever asks.
  FileDescriptor control;
};

// The life of an init: reaps, passes signals on, starts further programs beside the first one for
// those who ask, until the first one ends. Returns its wait status. All signals are blocked.
int watch_program(RunningProgram running);

}  // namespace codeflare::node::internal
