#pragma once

#include "base/env/file_system.h"
#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

// Places of the machine that pods may have as volumes.
namespace codeflare::node {

// Absolute, without ".", ".." and "//": what it seems to be is what it is, links aside.
bool is_plain_path(std::string_view path);
// A name that may be a part of a path: the name of one file.
bool is_plain_name(std::string_view name);
// Nothing is within no directory.
bool is_within(std::string_view path, std::string_view directory);

// Whether the path lies in one of the directories that the node offers; the sentence when not.
Result<void> host_path_allowed(const std::string& path, const std::vector<std::string>& allowed);

// Looks whether there is what the volume's type promises, as a kubelet does, and makes what it may
// make. A link on the way is an error: it could lead out of what is allowed. Blocking.
Result<void> prepare_host_path(FileSystem& files, const std::string& path, std::string_view type);

}  // namespace codeflare::node
