#include "base/env/passed_descriptors.h"

#include <cstddef>
#include <cstring>
#include <sys/socket.h>

namespace codeflare {

void take_descriptors(msghdr& message, std::vector<FileDescriptor>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof descriptor, sizeof descriptor);
      into.emplace_back(descriptor);
    }
  }
}

}  // namespace codeflare
