#include "net/internal/upgraded_connection.h"

#include "base/async/sleep.h"

namespace codeflare::net::internal {

namespace {

// TLS may have to write before it can read, or the other way round, when keys change. The other
// side of the socket has its own waiter then: this one looks again a little later.
constexpr Duration kLookAgain = std::chrono::milliseconds(5);

}  // namespace

Task<Result<std::string>> UpgradedConnection::read() {
  if (!input_.empty()) {
    std::string early(input_.view());
    input_.consume(early.size());
    co_return early;
  }
  for (;;) {
    const Io io = stream_.try_read(buffer_);
    if (io.kind == Io::Kind::done) {
      co_return std::string(buffer_.data(), io.bytes);
    }
    if (io.kind == Io::Kind::end) {
      co_return std::string();
    }
    if (io.kind == Io::Kind::failed) {
      co_return fail(unavailable("the connection broke"));
    }
    on_progress_();
    if (io.kind == Io::Kind::want_read) {
      CO_TRY(co_await stream_.socket().readable());
    } else {
      CO_TRY(co_await sleep_for(kLookAgain));
    }
  }
}

Task<Result<void>> UpgradedConnection::write(std::string bytes) {
  if (bytes.empty()) {
    co_return Result<void>();
  }
  iovec piece{bytes.data(), bytes.size()};
  std::span<iovec> rest(&piece, 1);
  for (;;) {
    CO_TRY_ASSIGN(const Io io, stream_.write_some(rest));
    if (rest.empty()) {
      co_return Result<void>();
    }
    on_progress_();
    if (io.kind == Io::Kind::want_write) {
      CO_TRY(co_await stream_.socket().writable());
    } else {
      CO_TRY(co_await sleep_for(kLookAgain));
    }
  }
}

}  // namespace codeflare::net::internal
