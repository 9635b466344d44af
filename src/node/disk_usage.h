#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace codeflare::node {

// Bytes on disk of each entry of the directory, with all that is below; links are not followed.
// What goes while it is looked at counts as nothing. Blocking.
std::map<std::string, std::int64_t> disk_usage_below(const std::string& directory);

}  // namespace codeflare::node
