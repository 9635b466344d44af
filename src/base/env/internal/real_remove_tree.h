#pragma once

#include "base/result.h"

#include <string>

namespace codeflare::internal {

// Removes the file, link or directory with all that is below; false when there was nothing. Links
// are not followed, however the tree changes meanwhile. Directories whose mode forbids it are made
// accessible first, as far as we own them. Needs few descriptors, whatever the depth. Others may
// remove the same meanwhile.
Result<bool> remove_tree(const std::string& path);

}  // namespace codeflare::internal
