#pragma once

#include "base/result.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace codeflare::up {

// Bytes in order; blocks.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // At most as many as there is room for; 0: the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

// Fills all of it, or fails with `what` and "is cut off".
Result<void> read_exactly(ByteSource& source, std::span<char> into, std::string_view what);

// Text that is in memory and outlives the source.
std::unique_ptr<ByteSource> text_source(std::string_view text);

// Unpacks the bytes: gzip (also several members) by its first bytes, else the same bytes.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed);

}  // namespace codeflare::up
