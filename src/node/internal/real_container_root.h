#pragma once

#include "base/result.h"
#include "node/internal/real_sandbox.h"
#include "node/keeper_protocol.h"

namespace codeflare::node::internal {

// For PID 1 of a container in a mount and PID namespace of its own: builds the file system that the
// spec asks for and moves into it.
Result<void> enter_container_root(const KeeperView& view, const SandboxSpec& sandbox,
                                  const ContainerSpec& spec);

}  // namespace codeflare::node::internal
