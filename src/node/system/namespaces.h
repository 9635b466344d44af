#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

// Namespaces of the kernel for this process, which must have one thread.
namespace codeflare::node {

// The mapping that a user may make: one id of the namespace around to `id` here. For a process that
// has just entered a user namespace, with the ids it had before. `proc` can be written to.
struct OwnIds {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};
Result<void> map_ids(const OwnIds& inside, const OwnIds& outside,
                     const std::string& proc = "/proc");

// New namespaces of these kinds (CLONE_NEW..., of users too) for this process and (PID) its
// children, with our own user as 0; `what` is for the error. That there may be none at all of a
// kind is said by the kernel as if there were too many: `permission_denied` then, as where it says
// so.
Result<void> enter_namespaces(int kinds, std::string_view what);
// Those of a pod: user, mount, PID, IPC and host name.
Result<void> enter_namespaces();

}  // namespace codeflare::node
