#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "node/wire/holder_protocol.h"

#include <string>
#include <vector>

namespace codeflare::node::internal {

// Sends bytes with descriptors beside the first of them; false when that did not work at once.
bool send_holder_answer(int socket, const std::string& bytes,
                        const std::vector<FileDescriptor>& descriptors);

}  // namespace codeflare::node::internal
