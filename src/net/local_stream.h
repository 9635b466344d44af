#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <memory>
#include <string>

namespace codeflare::net {

// Bytes to and from another process of this machine. One reader and one writer at a time.
class LocalStream {
 public:
  virtual ~LocalStream() = default;
  // What has come, at least one byte; empty at the end.
  virtual Task<Result<std::string>> read() = 0;
  virtual Task<Result<void>> write(std::string bytes) = 0;
};

// Connects to a Unix socket by its path, however long that is. `unavailable` when nobody listens
// there. For real loops.
Result<std::unique_ptr<LocalStream>> connect_local(Loop& loop, const std::string& path);

}  // namespace codeflare::net
