#pragma once

#include "base/env/file_system.h"
#include "base/result.h"
#include "ray/package.h"

#include <string>
#include <vector>

namespace codeflare::ray::internal {

struct PackageTree {
  std::vector<PackageEntry> entries;  // sorted by path
  bool all_excluded = false;          // an ignore file of the root matches the root itself
};

// The files of a directory that belong to its package: all but what the patterns and the ignore
// files of every level leave out. Links are followed, as Ray follows them.
Result<PackageTree> walk_tree(FileSystem& files, const std::string& root,
                              const std::vector<std::string>& excludes, bool honor_gitignore);

}  // namespace codeflare::ray::internal
