#pragma once

#include "net/byte_stream.h"
#include "net/internal/input_buffer.h"
#include "net/internal/real_stream.h"

#include <functional>
#include <span>
#include <string>
#include <utility>

namespace codeflare::net::internal {

// A connection after its upgrade, on either side: reading and writing go on at the same time.
class UpgradedConnection final : public ByteStream {
 public:
  // `input` has what came early, `buffer` is shared by the connections of the loop, `on_progress`
  // is called before each wait.
  UpgradedConnection(Stream& stream, InputBuffer& input, std::span<char> buffer,
                     std::function<void()> on_progress)
      : stream_(stream), input_(input), buffer_(buffer), on_progress_(std::move(on_progress)) {}

  Task<Result<std::string>> read() override;
  Task<Result<void>> write(std::string bytes) override;

 private:
  Stream& stream_;
  InputBuffer& input_;
  std::span<char> buffer_;
  std::function<void()> on_progress_;
};

}  // namespace codeflare::net::internal
