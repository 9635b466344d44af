#include "net/spdy_session.h"

#include <utility>

namespace codeflare::net {

namespace {

constexpr std::size_t kDataBytesMax = 64u << 10;

}  // namespace

Task<Result<void>> SpdyStream::write(std::string bytes) {
  // Small frames, so that streams share the connection fairly.
  for (std::size_t at = 0; at < bytes.size(); at += kDataBytesMax) {
    if (output_ended_) {
      co_return fail(unavailable("the stream is over"));
    }
    SpdyFrame frame{.stream = id_, .data = bytes.substr(at, kDataBytesMax)};
    CO_TRY(co_await session_.send(std::move(frame)));
  }
  co_return Result<void>();
}

Task<Result<void>> SpdyStream::finish() {
  if (std::exchange(output_ended_, true)) {
    co_return Result<void>();
  }
  session_.forget_if_over(*this);
  SpdyFrame frame{.fin = true, .stream = id_};
  co_return co_await session_.send(std::move(frame));
}

Task<Result<void>> SpdyStream::reset(std::uint32_t status) {
  if (input_ended_ && output_ended_) {
    co_return Result<void>();
  }
  output_ended_ = true;
  stop_reading();
  session_.end_input(*this);
  SpdyFrame frame{.type = SpdyType::rst_stream, .stream = id_, .value = status};
  co_return co_await session_.send(std::move(frame));
}

Task<Result<void>> SpdySession::send(SpdyFrame frame) {
  // Encoded in the order in which it is written: nothing waits between the two for its turn. Frames
  // with headers are the exception that matters, and those only one coroutine sends.
  CO_TRY_ASSIGN(std::string bytes, encoder_.encode(frame));
  co_return co_await writer_.write(std::move(bytes));
}

void SpdySession::end_input(SpdyStream& stream) {
  stream.input_ended_ = true;
  stream.input_.end();
  forget_if_over(stream);
}

void SpdySession::forget_if_over(const SpdyStream& stream) {
  if (stream.input_ended_ && stream.output_ended_) {
    streams_.erase(stream.id_);
  }
}

Task<Result<void>> SpdySession::open_stream(SpdyFrame frame) {
  if (frame.stream % 2 == 0 || frame.stream <= last_stream_) {
    co_return fail(invalid_argument("stream " + std::to_string(frame.stream) + " out of order"));
  }
  last_stream_ = frame.stream;
  if (streams_.size() >= kStreamsMax) {
    SpdyFrame refusal{
        .type = SpdyType::rst_stream, .stream = frame.stream, .value = kSpdyRefusedStream};
    co_return co_await send(std::move(refusal));
  }
  auto stream = std::make_shared<SpdyStream>(*this, frame.stream, std::move(frame.headers));
  streams_.emplace(frame.stream, stream);
  if (frame.fin) {
    end_input(*stream);
  }
  opened_.push_back(std::move(stream));
  changed_.notify_all();
  co_return Result<void>();
}

Task<Result<void>> SpdySession::take(SpdyFrame frame) {
  if (frame.type == SpdyType::syn_stream) {
    co_return co_await open_stream(std::move(frame));
  }
  if (frame.type == SpdyType::ping) {
    // The client's own have odd numbers; even ones would be answers to ours.
    if (frame.value % 2 == 1) {
      co_return co_await send(std::move(frame));
    }
    co_return Result<void>();
  }
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) {
    co_return Result<void>();  // it has ended here already
  }
  std::shared_ptr<SpdyStream> stream = found->second;
  if (frame.type == SpdyType::rst_stream) {
    stream->output_ended_ = true;
    stream->was_reset_ = true;
    end_input(*stream);
  } else if (frame.type == SpdyType::data || frame.type == SpdyType::headers) {
    if (!frame.data.empty() && !stream->input_ended_) {
      CO_TRY(co_await stream->input_.push(std::move(frame.data)));
    }
    if (frame.fin) {
      end_input(*stream);
    }
  }
  co_return Result<void>();
}

Task<Result<void>> SpdySession::run() {
  Result<void> result;
  while (result) {
    Result<std::optional<SpdyFrame>> frame = decoder_.next();
    if (!frame) {
      result = fail(std::move(frame).error());
    } else if (*frame && (*frame)->type == SpdyType::goaway) {
      break;
    } else if (*frame) {
      result = co_await take(**std::move(frame));
    } else {
      Result<std::string> bytes = co_await transport_.read();
      if (!bytes) {
        result = fail(std::move(bytes).error());
      } else if (bytes->empty()) {
        break;
      } else {
        decoder_.add(*bytes);
      }
    }
  }
  over_ = true;
  for (auto& [id, stream] : std::exchange(streams_, {})) {
    stream->output_ended_ = true;
    stream->input_ended_ = true;
    stream->was_reset_ = true;
    stream->input_.end();
  }
  changed_.notify_all();
  co_return result;
}

Task<Result<std::shared_ptr<SpdyStream>>> SpdySession::accept() {
  while (opened_.empty() && !over_) {
    CO_TRY(co_await changed_.wait());
  }
  if (opened_.empty()) {
    co_return nullptr;
  }
  std::shared_ptr<SpdyStream> stream = std::move(opened_.front());
  opened_.pop_front();
  SpdyFrame reply{.type = SpdyType::syn_reply, .stream = stream->id()};
  CO_TRY(co_await send(std::move(reply)));
  co_return stream;
}

Task<void> SpdySession::close() {
  SpdyFrame frame{.type = SpdyType::goaway, .stream = last_stream_};
  static_cast<void>(co_await send(std::move(frame)));
  writer_.close();
}

}  // namespace codeflare::net
