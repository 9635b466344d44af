#pragma once

#include "base/async/loop.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/descriptor_stream.h"

#include <memory>

namespace codeflare::cli {

// The terminal of the caller while a program elsewhere uses it: keys, Ctrl-C included, are input
// and nothing is echoed here. The destructor restores its mode.
class Terminal {
 public:
  virtual ~Terminal() = default;
  virtual net::ByteStream& input() = 0;
  virtual net::ByteStream& output() = 0;
  virtual net::TerminalSize size() const = 0;
};

// The terminal of standard input. failed_precondition where there is none.
Result<std::unique_ptr<Terminal>> take_terminal(Loop& loop);

}  // namespace codeflare::cli
