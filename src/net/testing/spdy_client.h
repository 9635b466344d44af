#pragma once

#include "net/byte_stream.h"
#include "net/spdy.h"

#include <string>
#include <utility>

namespace codeflare::net::testing {

// The other side of a SPDY session, frame by frame. For tests only.
class SpdyClient {
 public:
  explicit SpdyClient(ByteStream& stream) : stream_(stream) {}

  Task<Result<void>> send(SpdyFrame frame) {
    CO_TRY_ASSIGN(std::string bytes, encoder_.encode(frame));
    co_return co_await stream_.write(std::move(bytes));
  }

  Task<Result<SpdyFrame>> receive() {
    for (;;) {
      CO_TRY_ASSIGN(std::optional<SpdyFrame> frame, decoder_.next());
      if (frame) {
        co_return *std::move(frame);
      }
      CO_TRY_ASSIGN(const std::string bytes, co_await stream_.read());
      if (bytes.empty()) {
        co_return fail(unavailable("the connection is over"));
      }
      decoder_.add(bytes);
    }
  }

 private:
  ByteStream& stream_;
  SpdyEncoder encoder_;
  SpdyDecoder decoder_;
};

}  // namespace codeflare::net::testing
