#pragma once

#include "base/bytes.h"
#include "net/internal/chunk_decoder.h"
#include "net/internal/http1.h"
#include "net/internal/input_buffer.h"

#include <cstdint>
#include <optional>

namespace codeflare::net::internal {

// Takes one body out of a connection's input according to its framing.
class BodyReader {
 public:
  BodyReader() = default;
  explicit BodyReader(const Framing& framing) : framing_(framing), left_(framing.size) {}

  bool done() const { return done_ || framing_.kind == Framing::Kind::none; }
  // The next piece of what is in the buffer; nothing when there is none: the body is done() or
  // needs more input.
  Wire<std::optional<Bytes>> take(InputBuffer& input);
  // The same from bytes just read, when `input` is empty; bytes not used go there.
  Wire<std::optional<Bytes>> take(std::string_view fresh, InputBuffer& input);
  // The input has ended: true if that is a proper end of this body.
  bool end_of_input();
  std::uint64_t taken() const { return taken_; }

 private:
  struct Step {
    std::size_t consumed = 0;
    std::string_view data;
  };
  Wire<Step> step(std::string_view bytes);

  Framing framing_;
  std::uint64_t left_ = 0;  // of a sized body
  std::uint64_t taken_ = 0;
  ChunkDecoder chunks_;
  bool done_ = false;
};

}  // namespace codeflare::net::internal
