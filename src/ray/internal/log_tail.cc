#include "ray/internal/log_tail.h"

#include "base/async/sleep.h"
#include "net/upgrade.h"
#include "net/websocket_alive.h"
#include "ray/internal/answer.h"

#include <optional>
#include <utility>

namespace codeflare::ray::internal {

namespace {

// Ray sends lines whole, however long they are.
constexpr std::size_t kMessageBytesMax = std::size_t{256} << 20;
constexpr std::size_t kRefusalBytesMax = 1u << 20;

}  // namespace

Task<Result<void>> LogTail::follow(net::Request request) {
  CO_TRY_ASSIGN(
      net::WebSocketAnswer answer,
      co_await with_timeout(timeouts_.open, "follow the log",
                            net::ask_for_websocket(service_, std::move(request), {}, env_.random)));
  if (!answer.open()) {
    CO_TRY_ASSIGN(const Answer refusal,
                  co_await read_answer(std::move(answer.response), kRefusalBytesMax));
    Error error = to_error("follow the log", refusal);
    if (is_missing_route(refusal)) {
      error.code = ErrorCode::unsupported;
    }
    co_return fail(std::move(error));
  }
  outcome_ = {};
  CO_TRY(co_await net::converse(std::move(answer.response),
                                [this](net::ByteStream& connection) { return read(connection); }));
  co_return outcome_;
}

Task<void> LogTail::read(net::ByteStream& connection) {
  outcome_ = co_await read_messages(connection);
}

Task<Result<void>> LogTail::read_messages(net::ByteStream& connection) {
  net::WebSocketConnection socket(connection, env_.random, kMessageBytesMax);
  std::uint64_t position = 0;
  for (;;) {
    Result<std::optional<net::WebSocketMessage>> message =
        co_await net::read_while_alive(socket, timeouts_.ping);
    if (!message) {
      const ErrorCode code = message.error().code;
      if (code == ErrorCode::cancelled || code == ErrorCode::too_large) {
        co_return fail(std::move(message).error());
      }
      co_return Result<void>();
    }
    if (!*message) {
      co_return Result<void>();
    }
    CO_TRY(co_await take(std::move((*message)->payload), position));
  }
}

Task<Result<void>> LogTail::take(std::string text, std::uint64_t& position) {
  const std::uint64_t begin = std::exchange(position, position + text.size());
  if (position <= shown_) {
    co_return Result<void>();
  }
  std::string fresh = text.substr(begin < shown_ ? shown_ - begin : 0);
  // Before the sink: whatever becomes of it, no byte comes twice.
  shown_ = position;
  co_return co_await sink_(std::move(fresh));
}

Task<Result<void>> LogTail::finish(std::string log) {
  std::uint64_t position = 0;
  co_return co_await take(std::move(log), position);
}

}  // namespace codeflare::ray::internal
