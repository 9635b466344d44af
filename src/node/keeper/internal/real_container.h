#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/wire/keeper_protocol.h"

#include <string_view>
#include <sys/types.h>

namespace codeflare::node::internal {

// With which an init passes the file system that its container writes to, and the outside of its
// terminal.
inline constexpr std::string_view kFilesPacket = "files";
inline constexpr std::string_view kTerminalPacket = "terminal";

// Asks an init to kill all that its container runs, itself not. No other program uses it.
int kill_all_signal();

// A container that is being started: its init, and our ends of its pipes, none of which blocks.
struct StartedContainer {
  pid_t init = -1;
  FileDescriptor output;
  FileDescriptor error_output;
  // Lines of the init: "R" when the program runs, "E text" when it cannot, "S number" with the wait
  // status of the program when it has ended. The end of the file comes with the end of the init.
  FileDescriptor report;
  // Takes requests to start programs beside the container's own: watch_program(). Gives packets
  // with a descriptor, see above.
  FileDescriptor control;
  FileDescriptor input;  // of the program; none unless it was asked for, or when it has a terminal
};

// Where a program of a container belongs.
struct ProgramPlace {
  int user_namespace = -1;  // of the container's first program; -1: this is the first one
  int proc = -1;            // for the first one: ContainerRoot::proc
};

// For a child of an init: becomes a program of the container. Returns only when it cannot be.
Error become_program(const KeeperView& view, ContainerSpec spec, const ProgramPlace& place);

// Forks the init. Signals sent to it go on to the program.
Result<StartedContainer> start_container(const KeeperView& view, const SandboxSpec& sandbox,
                                         const ContainerSpec& spec);

}  // namespace codeflare::node::internal
