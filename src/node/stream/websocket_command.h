#pragma once

#include "base/async/wait_list.h"
#include "net/byte_queue.h"
#include "net/websocket_connection.h"
#include "node/stream/channels.h"
#include "node/stream/remote_command.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace codeflare::node {

// exec and attach over a WebSocket: channel 0 is input, 1 output, 2 error output, 3 how it ended, 4
// the size of the terminal.
class WebSocketCommand final : public CommandClient {
 public:
  WebSocketCommand(net::ByteStream& connection, ChannelDialect dialect, CommandStreams streams)
      : socket_(connection), dialect_(dialect), streams_(streams) {}

  Task<void> run() override;
  // Says hello, as clients expect it.
  Task<Result<void>> ready() override;
  Task<Result<std::string>> read_input() override { return input_.pop(); }
  Task<Result<std::optional<TerminalSize>>> next_size() override;
  Task<Result<void>> write_output(std::string bytes) override;
  Task<Result<void>> write_error_output(std::string bytes) override;
  Task<void> finish(model::Status status) override;

 private:
  static constexpr std::size_t kQueuedBytesMax = 1u << 20;

  Task<Result<void>> take(ChannelPiece piece);
  Task<Result<void>> write(std::uint8_t channel, std::string bytes);

  net::WebSocketConnection socket_;
  ChannelDialect dialect_;
  CommandStreams streams_;
  net::ByteQueue input_{kQueuedBytesMax};
  std::optional<TerminalSize> size_;  // not yet taken
  bool over_ = false;
  WaitList changed_;
};

}  // namespace codeflare::node
