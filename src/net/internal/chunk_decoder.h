#pragma once

#include "net/internal/http1.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace codeflare::net::internal {

// Decodes a chunked body as it arrives, without copying. Chunk extensions and trailer fields are
// read past, within limits.
class ChunkDecoder {
 public:
  struct Step {
    std::size_t consumed = 0;  // bytes of the input that are done with
    std::string_view data;     // part of the input, when there was some
    bool done = false;         // the body has ended
  };
  // Goes on until it has data, the end, or no input. Bytes not consumed are offered again.
  Wire<Step> decode(std::string_view input);

 private:
  enum class State : std::uint8_t { size, extension, data, data_end, trailer, done };
  Wire<std::size_t> read_size(std::string_view input);
  Wire<std::size_t> read_extension(std::string_view input);
  Wire<std::size_t> read_data_end(std::string_view input);
  Wire<std::size_t> read_trailer(std::string_view input);

  State state_ = State::size;
  std::uint64_t left_ = 0;      // of the current chunk
  std::uint8_t digits_ = 0;     // of the size line so far
  bool after_cr_ = false;       // the byte before was CR
  bool line_has_text_ = false;  // of a trailer line
  std::size_t overhead_ = 0;    // bytes of extension (per chunk) or trailer, against the limit
};

}  // namespace codeflare::net::internal
