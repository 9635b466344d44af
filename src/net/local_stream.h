#pragma once

#include "base/result.h"
#include "net/byte_stream.h"

#include <memory>
#include <string>

namespace codeflare::net {

// Bytes to and from another process of this machine.
using LocalStream = ByteStream;

// Connects to a Unix socket by its path, however long that is. `unavailable` when nobody listens
// there. For real loops.
Result<std::unique_ptr<LocalStream>> connect_local(Loop& loop, const std::string& path);

}  // namespace codeflare::net
