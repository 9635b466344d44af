#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <string>

namespace codeflare::net::internal {

// A connected socket that does not block.
Result<FileDescriptor> connect_unix(const std::string& path);

}  // namespace codeflare::net::internal
