#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <optional>
#include <string>
#include <sys/types.h>

// The process that keeps the holder's namespaces: it does nothing else, so nothing can go wrong
// with it. Users find it by the lock that it has.
namespace codeflare::node::internal {

struct Anchor {
  pid_t process = 0;
  FileDescriptor watch{};  // readable when it has ended
};

// Nothing when there is none.
Result<std::optional<Anchor>> find_anchor(const std::string& directory);
// A child of ours, in our namespaces; ready when this returns.
Result<Anchor> start_anchor(const std::string& directory);
// Moves this process, which has one thread, into the anchor's user, network and mount namespaces.
Result<void> join_anchor(const Anchor& anchor);
void end_anchor(const Anchor& anchor);

}  // namespace codeflare::node::internal
