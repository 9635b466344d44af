#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/keeper/internal/real_sandbox.h"
#include "node/wire/keeper_protocol.h"

namespace codeflare::node::internal {

// For PID 1 of a container in a mount and PID namespace of its own: builds the file system that the
// spec asks for and moves into it. All that the container writes outside its volumes lies in
// memory, in one file system of a bounded size, whose descriptor it gives.
Result<FileDescriptor> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                            const ContainerSpec& spec);

}  // namespace codeflare::node::internal
