#include "node/stream/websocket_command.h"

#include "model/codec/codec.h"
#include "model/codec/meta.h"

#include <utility>

namespace codeflare::node {

namespace {

constexpr std::uint8_t kInput = 0;
constexpr std::uint8_t kOutput = 1;
constexpr std::uint8_t kErrorOutput = 2;
constexpr std::uint8_t kEnd = 3;
constexpr std::uint8_t kSize = 4;

}  // namespace

Task<void> WebSocketCommand::run() {
  for (;;) {
    Result<std::optional<net::WebSocketMessage>> message = co_await socket_.read();
    if (!message || !*message) {
      break;
    }
    // Some clients send an empty message to keep a connection alive.
    if ((*message)->payload.empty()) {
      continue;
    }
    Result<ChannelPiece> piece = read_piece(dialect_, **message);
    if (!piece) {
      co_await socket_.close(net::kWebSocketProtocolError, piece.error().message);
      break;
    }
    if (!co_await take(*std::move(piece))) {
      break;
    }
  }
  over_ = true;
  input_.end();
  changed_.notify_all();
}

Task<Result<void>> WebSocketCommand::take(ChannelPiece piece) {
  if (piece.channel == kInput && streams_.input) {
    co_return co_await input_.push(std::move(piece.bytes));
  }
  if (piece.channel == kSize) {
    if (const std::optional<TerminalSize> size = parse_terminal_size(piece.bytes)) {
      size_ = size;
      changed_.notify_all();
    }
  } else if (piece.channel == kCloseChannel && dialect_.can_close && !piece.bytes.empty() &&
             piece.bytes[0] == static_cast<char>(kInput)) {
    input_.end();
  }
  co_return Result<void>();
}

Task<Result<void>> WebSocketCommand::ready() {
  const std::uint8_t first = streams_.output         ? kOutput
                             : streams_.error_output ? kErrorOutput
                                                     : kEnd;
  return write(first, {});
}

Task<Result<std::optional<TerminalSize>>> WebSocketCommand::next_size() {
  while (!size_ && !over_) {
    CO_TRY(co_await changed_.wait());
  }
  co_return std::exchange(size_, std::nullopt);
}

Task<Result<void>> WebSocketCommand::write(std::uint8_t channel, std::string bytes) {
  net::WebSocketMessage message = write_piece(dialect_, channel, bytes);
  co_return co_await socket_.write(message.opcode, std::move(message.payload));
}

Task<Result<void>> WebSocketCommand::write_output(std::string bytes) {
  return write(kOutput, std::move(bytes));
}

Task<Result<void>> WebSocketCommand::write_error_output(std::string bytes) {
  return write(kErrorOutput, std::move(bytes));
}

Task<void> WebSocketCommand::finish(model::Status status) {
  std::string text = dialect_.statuses ? model::to_json_text(status) : status.message;
  if (!text.empty()) {
    static_cast<void>(co_await write(kEnd, std::move(text)));
  }
  co_await socket_.close(net::kWebSocketNormal, {});
}

}  // namespace codeflare::node
