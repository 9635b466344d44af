#pragma once

#include "base/result.h"

// Which system calls the programs of a container may make.
namespace codeflare::node::internal {

// For good, for this process and all that come from it; it must have given up new privileges. All
// calls are allowed but those that open the kernel wider than a container without capabilities
// needs: new namespaces (in a user namespace of its own a program has every capability again, and
// with it its control groups and the kernel's rarely used corners), mounts, keys of the user,
// bpf, io_uring and the like. They fail with EPERM; clone3, whose flags a filter cannot see, with
// ENOSYS, for which libraries have clone.
Result<void> forbid_system_calls();

}  // namespace codeflare::node::internal
