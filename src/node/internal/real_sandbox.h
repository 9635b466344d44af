#pragma once

#include "base/result.h"
#include "node/internal/real_group_handles.h"
#include "node/keeper_protocol.h"

#include <memory>
#include <string>
#include <string_view>

// The namespaces and the file system of a pod, as its keeper sees them.
namespace codeflare::node::internal {

// Where things are for a keeper and for those that it starts.
struct KeeperView {
  bool isolated = false;
  std::string pod;     // the pod's directory
  std::string host;    // the machine's programs; empty when not isolated
  std::string images;  // of the roots that the sandbox has, by number
  // Where limits are kept by the kernel; null: by us.
  std::shared_ptr<const GroupHandles> groups{};
  // The lock of the pod, held by every init too: what a keeper that was killed had started may live
  // a moment longer, and no other keeper must begin in that.
  int lock = -1;
};

// New user, mount, PID, IPC and host name namespaces for this process and (PID) its children, with
// our own user as 0. The process must have one thread.
Result<void> enter_namespaces();

// Makes namespaces of these kinds (CLONE_NEW...) for this process; `what` is for the error. That
// there may be none at all of a kind is said by the kernel as if there were too many:
// `permission_denied` then, as where it says so.
Result<void> make_namespaces(int kinds, std::string_view what);

// Before that: leaves behind what the user who started us may do beyond the id itself, which would
// come along: the keys of the session, and, as root, the groups. An ordinary user cannot give up
// groups.
Result<void> let_go_of_keys_and_groups();

// What a user may map: one id of the namespace around to `id` here. For a process that has just
// entered a user namespace, with the ids it had before. `proc` can be written to.
struct OwnIds {
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};
Result<void> map_ids(const OwnIds& inside, const OwnIds& outside,
                     const std::string& proc = "/proc");

// For PID 1 of the pod: builds the root that it and its containers may see and moves into it. The
// directory has an empty directory "root".
Result<KeeperView> move_into_pod_root(const SandboxSpec& spec, const std::string& directory);

// Tries all of it that a system may forbid, in a child process; `unsupported` when it does.
Result<void> probe_namespaces(const std::string& empty_directory);

}  // namespace codeflare::node::internal
