#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace codeflare::node::internal {

// The control groups of one pod, held open: a keeper that has moved into its own root reaches them
// only this way.
class GroupHandles {
 public:
  static Result<GroupHandles> open(const std::vector<std::string>& directories);

  bool any() const { return !pods_.empty(); }
  std::vector<int> descriptors() const;
  // Moves the calling process, with all that it starts from now on, into the container's groups.
  Result<void> join(const std::string& container) const;
  // How often the kernel has killed in the container's group for want of memory.
  std::int64_t oom_kills(const std::string& container) const;

 private:
  std::vector<FileDescriptor> pods_;
};

}  // namespace codeflare::node::internal
