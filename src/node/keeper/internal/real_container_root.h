#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/wire/keeper_protocol.h"

namespace codeflare::node::internal {

struct ContainerRoot {
  FileDescriptor files;  // the file system in memory that the container writes to
  // A /proc that can be written to, for the program that maps the container's ids. Nobody else
  // gets it.
  FileDescriptor proc;
};

// For PID 1 of a container in a mount and PID namespace of its own: builds the file system that the
// spec asks for and moves into it. All that the container writes outside its volumes lies in
// memory, in one file system of a bounded size.
Result<ContainerRoot> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                           const ContainerSpec& spec);

}  // namespace codeflare::node::internal
