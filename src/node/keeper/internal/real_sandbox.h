#pragma once

#include "base/result.h"
#include "node/keeper/internal/real_group_handles.h"
#include "node/wire/keeper_protocol.h"

#include <memory>
#include <string>

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

// Before enter_namespaces(): leaves behind what the user who started us may do beyond the id
// itself, which would come along: the keys of the session, and, as root, the groups. An ordinary
// user cannot give up groups.
Result<void> let_go_of_keys_and_groups();

// For PID 1 of the pod: builds the root that it and its containers may see and moves into it. The
// directory has an empty directory "root".
Result<KeeperView> move_into_pod_root(const SandboxSpec& spec, const std::string& directory);

// Tries all of it that a system may forbid, in a child process; `unsupported` when it does.
Result<void> probe_namespaces(const std::string& empty_directory);

}  // namespace codeflare::node::internal
