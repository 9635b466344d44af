#pragma once

#include "base/posix.h"

#include <vector>

struct msghdr;

namespace codeflare {

// Adds the descriptors that came along with a message of a Unix socket; they are ours from then on.
void take_descriptors(msghdr& message, std::vector<FileDescriptor>& into);

}  // namespace codeflare
