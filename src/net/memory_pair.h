#pragma once

#include "net/byte_queue.h"
#include "net/byte_stream.h"

#include <cstddef>
#include <string>
#include <utility>

namespace codeflare::net {

// Two streams in memory, each of which reads what is written to the other.
class MemoryPair {
 public:
  explicit MemoryPair(std::size_t bytes_max = 1u << 20) : ours_(bytes_max), theirs_(bytes_max) {}

  ByteStream& near() { return near_; }
  ByteStream& far() { return far_; }

  // As a socket closes: the other side reads to the end, and what it still writes is dropped.
  void close_near() { close(theirs_, ours_); }
  void close_far() { close(ours_, theirs_); }

 private:
  class End final : public ByteStream {
   public:
    End(ByteQueue& in, ByteQueue& out) : in_(in), out_(out) {}
    Task<Result<std::string>> read() override { return in_.pop(); }
    Task<Result<void>> write(std::string bytes) override { return out_.push(std::move(bytes)); }
    Task<Result<void>> finish() override {
      out_.end();
      co_return Result<void>();
    }

   private:
    ByteQueue& in_;
    ByteQueue& out_;
  };

  static void close(ByteQueue& out, ByteQueue& in) {
    out.end();
    in.abandon();
  }

  ByteQueue ours_;    // read by near
  ByteQueue theirs_;  // read by far
  End near_{ours_, theirs_};
  End far_{theirs_, ours_};
};

}  // namespace codeflare::net
