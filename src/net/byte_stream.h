#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <string>

namespace codeflare::net {

// Bytes both ways: a pipe, a socket, an upgraded connection, one stream of several in it. One
// reader and one writer at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // The bytes that have come, at least one; empty at the end.
  virtual Task<Result<std::string>> read() = 0;
  virtual Task<Result<void>> write(std::string bytes) = 0;
  // Nothing more will be written; what the other side sends can still be read.
  virtual Task<Result<void>> finish() { co_return Result<void>(); }
};

}  // namespace codeflare::net
