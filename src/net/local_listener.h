#pragma once

#include "base/result.h"
#include "net/local_stream.h"

#include <memory>
#include <string>

namespace codeflare::net {

// A Unix socket that other processes of the same user connect to. The file is removed with it.
class LocalListener {
 public:
  virtual ~LocalListener() = default;
  virtual Task<Result<std::unique_ptr<LocalStream>>> accept() = 0;
};

// Takes the place of a socket file that an earlier process left. For real loops.
Result<std::unique_ptr<LocalListener>> listen_local(Loop& loop, const std::string& path);

}  // namespace codeflare::net
