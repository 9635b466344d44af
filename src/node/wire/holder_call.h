#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/wire/holder_protocol.h"

#include <string>
#include <vector>

namespace codeflare::node {

struct HolderReply {
  HolderAnswer answer;
  std::vector<FileDescriptor> descriptors{};
};

// Asks the holder that listens at `socket` (a path of any length) and waits for its answer: not on
// a loop. `unavailable` when there is no holder, failed_precondition when it rejects the request.
Result<HolderReply> call_holder(const std::string& socket, const HolderRequest& request);

}  // namespace codeflare::node
