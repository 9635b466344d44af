#include "node/stream/spdy_command.h"

#include "base/async/sleep.h"
#include "model/codec/codec.h"
#include "model/codec/meta.h"

#include <array>
#include <utility>

namespace codeflare::node {

namespace {

// A kubelet's.
constexpr Duration kStreamsWithin = std::chrono::seconds(30);

constexpr auto kDialects = std::to_array<SpdyDialect>({
    {.protocol = "v4.channel.k8s.io", .statuses = true, .sizes = true},
    {.protocol = "v3.channel.k8s.io", .sizes = true},
    {.protocol = "v2.channel.k8s.io"},
    {.protocol = "channel.k8s.io"},
});

Task<Result<void>> write_to(std::shared_ptr<net::SpdyStream> stream, std::string bytes) {
  if (stream == nullptr) {
    co_return Result<void>();
  }
  co_return co_await stream->write(std::move(bytes));
}

}  // namespace

std::optional<SpdyDialect> spdy_dialect(const std::vector<std::string>& offered) {
  if (offered.empty()) {
    return SpdyDialect{};
  }
  for (const std::string& protocol : offered) {
    for (const SpdyDialect& dialect : kDialects) {
      if (dialect.protocol == protocol) {
        return dialect;
      }
    }
  }
  return std::nullopt;
}

Task<void> SpdyCommand::run() {
  static_cast<void>(co_await session_.run());
}

bool SpdyCommand::complete() const {
  return end_ != nullptr && (!wanted_.input || input_ != nullptr) &&
         (!wanted_.output || output_ != nullptr) &&
         (!wanted_.error_output || error_output_ != nullptr) &&
         (!wanted_.terminal || !dialect_.sizes || sizes_ != nullptr);
}

Task<Result<void>> SpdyCommand::take_streams() {
  while (!complete()) {
    CO_TRY_ASSIGN(Stream stream, co_await session_.accept());
    if (stream == nullptr) {
      co_return fail(unavailable("the client went away"));
    }
    const std::string type(stream->headers().get("streamtype").value_or(""));
    if (type == "stdin") {
      input_ = std::move(stream);
    } else if (type == "stdout") {
      output_ = std::move(stream);
    } else if (type == "stderr") {
      error_output_ = std::move(stream);
    } else if (type == "error") {
      end_ = std::move(stream);
    } else if (type == "resize") {
      sizes_ = std::move(stream);
    } else {
      CO_TRY(co_await stream->reset(net::kSpdyRefusedStream));
    }
  }
  co_return Result<void>();
}

Task<Result<void>> SpdyCommand::ready() {
  return with_timeout(kStreamsWithin, "the client's streams", take_streams());
}

Task<Result<std::string>> SpdyCommand::read_input() {
  if (input_ == nullptr) {
    co_return std::string();
  }
  co_return co_await input_->read();
}

Task<Result<std::optional<TerminalSize>>> SpdyCommand::next_size() {
  while (sizes_ != nullptr) {
    // JSON values one after the other, none of which has a brace inside.
    if (const std::size_t end = size_text_.find('}'); end != std::string::npos) {
      const std::string text = size_text_.substr(0, end + 1);
      size_text_.erase(0, end + 1);
      if (const std::optional<TerminalSize> size = parse_terminal_size(text)) {
        co_return size;
      }
      continue;
    }
    CO_TRY_ASSIGN(const std::string bytes, co_await sizes_->read());
    if (bytes.empty() || size_text_.size() > 4096) {
      break;
    }
    size_text_ += bytes;
  }
  co_return std::nullopt;
}

Task<Result<void>> SpdyCommand::write_output(std::string bytes) {
  return write_to(output_, std::move(bytes));
}

Task<Result<void>> SpdyCommand::write_error_output(std::string bytes) {
  return write_to(error_output_, std::move(bytes));
}

Task<void> SpdyCommand::finish(model::Status status) {
  std::string text = dialect_.statuses ? model::to_json_text(status) : status.message;
  if (!text.empty()) {
    static_cast<void>(co_await write_to(end_, std::move(text)));
  }
  const std::vector<Stream> all = {output_, error_output_, end_, sizes_, input_};
  for (const Stream& stream : all) {
    if (stream != nullptr) {
      stream->stop_reading();
      static_cast<void>(co_await stream->finish());
    }
  }
  co_await session_.close();
}

}  // namespace codeflare::node
