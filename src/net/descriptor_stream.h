#pragma once

#include "base/posix.h"
#include "base/result.h"
#include "net/byte_stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::net {

struct TerminalSize {
  std::uint16_t columns = 0;
  std::uint16_t rows = 0;

  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

// A descriptor that another process passed to us: one end of a pipe, the outer end of a terminal,
// or a socket. finish() closes a pipe, ends one direction of a socket, and leaves a terminal alone.
class DescriptorStream : public ByteStream {
 public:
  virtual Result<void> set_terminal_size(TerminalSize size) = 0;
  // For a socket whose connection may still be under way.
  virtual Task<Result<void>> connected() = 0;
};

// For real loops.
std::unique_ptr<DescriptorStream> make_descriptor_stream(Loop& loop, FileDescriptor descriptor);

// A Unix connection on which descriptors come along with bytes.
class DescriptorChannel {
 public:
  virtual ~DescriptorChannel() = default;
  struct Piece {
    std::string bytes;  // empty at the end
    std::vector<FileDescriptor> descriptors;
  };
  virtual Task<Result<Piece>> read() = 0;
  virtual Task<Result<void>> write(std::string bytes) = 0;
};

// As connect_local().
Result<std::unique_ptr<DescriptorChannel>> connect_descriptors(Loop& loop, const std::string& path);

}  // namespace codeflare::net
