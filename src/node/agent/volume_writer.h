#pragma once

#include "base/result.h"
#include "node/agent/volume_plan.h"

#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {

// Puts files into a directory as a kubelet does: readers see all of the old ones or all of the new
// ones. Blocking. The files lie in a directory of their own that the link "..data" points to; the
// names beside it are links through it.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  virtual Result<void> write(const std::string& directory,
                             const std::vector<VolumeFile>& files) = 0;
  // Makes `path` lead to `target`; fine when it does.
  virtual Result<void> link(const std::string& target, const std::string& path) = 0;
};

// The real one; links are not part of FileSystem.
std::unique_ptr<VolumeWriter> make_volume_writer();

}  // namespace codeflare::node
