#pragma once

#include "base/async/wait_list.h"
#include "net/spdy_session.h"
#include "node/stream/remote_command.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node {

// The versions of exec and attach over SPDY differ in two things.
struct SpdyDialect {
  std::string_view protocol{};  // as agreed on; empty: none was asked for
  bool statuses = false;        // v4: the end is sent as a Status, not as plain text
  bool sizes = false;           // v3 and later: there is a stream for the size of the terminal
};
// The first of the client's protocols that is served; nothing when none is.
std::optional<SpdyDialect> spdy_dialect(const std::vector<std::string>& offered);

// exec and attach over SPDY: the client opens a stream for each purpose.
class SpdyCommand final : public CommandClient {
 public:
  SpdyCommand(net::ByteStream& connection, SpdyDialect dialect, CommandStreams streams)
      : session_(connection), dialect_(dialect), wanted_(streams) {}

  Task<void> run() override;
  Task<Result<void>> ready() override;
  Task<Result<std::string>> read_input() override;
  Task<Result<std::optional<TerminalSize>>> next_size() override;
  Task<Result<void>> write_output(std::string bytes) override;
  Task<Result<void>> write_error_output(std::string bytes) override;
  Task<void> finish(model::Status status) override;

 private:
  using Stream = std::shared_ptr<net::SpdyStream>;
  Task<Result<void>> take_streams();
  bool complete() const;

  net::SpdySession session_;
  SpdyDialect dialect_;
  CommandStreams wanted_;
  Stream input_;
  Stream output_;
  Stream error_output_;
  Stream end_;
  Stream sizes_;
  std::string size_text_;  // not yet a whole line
};

}  // namespace codeflare::node
