#pragma once

#include "net/byte_stream.h"
#include "net/internal/real_stream.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::net::internal {

// A connected socket, without TLS, as a stream of bytes.
class SocketStream final : public ByteStream {
 public:
  explicit SocketStream(Socket socket) : stream_(std::move(socket)) {}

  Task<Result<std::string>> read() override {
    std::array<char, 16384> buffer;
    CO_TRY_ASSIGN(const std::size_t size, co_await stream_.read(buffer));
    co_return std::string(buffer.data(), size);
  }
  Task<Result<void>> write(std::string bytes) override {
    co_return co_await stream_.write(std::string_view(bytes));
  }
  Task<Result<void>> finish() override {
    stream_.finish_writing();
    co_return Result<void>();
  }

 private:
  Stream stream_;
};

}  // namespace codeflare::net::internal
