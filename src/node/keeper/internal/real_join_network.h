#pragma once

#include "base/result.h"

#include <string>

namespace codeflare::node::internal {

// Moves this process, which has one thread, into the holder's user namespace and into the network
// of the pod. `socket` is the holder's.
Result<void> join_network(const std::string& socket, const std::string& uid);

}  // namespace codeflare::node::internal
