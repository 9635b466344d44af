#include "net/internal/real_stream.h"

#include "base/check.h"
#include "net/internal/real_tls.h"

#include <utility>

namespace codeflare::net::internal {

Stream::Stream(Socket socket, std::unique_ptr<TlsSession> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream::~Stream() = default;

Io Stream::try_read(std::span<char> buffer) {
  return tls_ != nullptr ? tls_->try_read(buffer) : socket_.try_read(buffer);
}

Io Stream::try_write(std::span<const iovec> pieces) {
  return tls_ != nullptr ? tls_->try_write(pieces) : socket_.try_write(pieces);
}

bool Stream::holds_input() const {
  return tls_ != nullptr && tls_->holds_input();
}

Error Stream::last_error() const {
  return tls_ != nullptr ? tls_->last_error() : socket_.last_error();
}

Task<Result<std::size_t>> Stream::read(std::span<char> buffer) {
  for (;;) {
    Io io = try_read(buffer);
    if (io.wants()) {
      CO_TRY(co_await socket_.wanted(io));
      continue;
    }
    if (io.kind == Io::Kind::failed) {
      co_return fail(last_error());
    }
    co_return io.bytes;
  }
}

Result<Io> Stream::write_some(std::span<iovec>& pieces) {
  TRY_ASSIGN(const Io held, send_held());
  if (held.wants()) {
    return held;
  }
  while (!pieces.empty()) {
    Io io = try_write(pieces);
    if (io.wants()) {
      return io;
    }
    if (io.kind != Io::Kind::done) {
      return fail(io.kind == Io::Kind::end ? unavailable("connection closed by the other side")
                                           : last_error());
    }
    bytes_written_ += io.bytes;
    while (!pieces.empty() && io.bytes >= pieces[0].iov_len) {
      io.bytes -= pieces[0].iov_len;
      pieces = pieces.subspan(1);
    }
    if (!pieces.empty()) {
      pieces[0].iov_base = static_cast<char*>(pieces[0].iov_base) + io.bytes;
      pieces[0].iov_len -= io.bytes;
    }
  }
  return Io{Io::Kind::done};
}

Result<bool> Stream::prepare(std::span<const iovec> pieces, std::string& wire) {
  if (tls_ == nullptr || holds_output()) {
    return false;
  }
  Io io = tls_->prepare(pieces, wire);
  if (io.kind == Io::Kind::failed) {
    return fail(last_error());
  }
  std::size_t total = 0;
  for (const iovec& piece : pieces) {
    total += piece.iov_len;
  }
  CHECK(io.kind != Io::Kind::done || io.bytes == total, "records took a part of a write");
  return io.kind == Io::Kind::done;
}

Result<bool> Stream::send(std::string_view wire) {
  Io io = socket_.try_send(wire);
  if (io.kind == Io::Kind::failed) {
    return fail(socket_.last_error());
  }
  bytes_written_ += io.bytes;
  if (io.bytes < wire.size()) {
    tls_->hold(wire.substr(io.bytes));
  }
  return io.bytes == wire.size();
}

Result<Io> Stream::send_held() {
  while (holds_output()) {
    Io io = socket_.try_send(tls_->held());
    if (io.wants()) {
      return io;
    }
    if (io.kind != Io::Kind::done) {
      return fail(socket_.last_error());
    }
    bytes_written_ += io.bytes;
    tls_->sent_held(io.bytes);
  }
  return Io{Io::Kind::done};
}

Task<Result<void>> Stream::write(std::span<iovec> pieces) {
  for (;;) {
    CO_TRY_ASSIGN(Io io, write_some(pieces));
    if (!io.wants()) {
      co_return Result<void>();
    }
    CO_TRY(co_await socket_.wanted(io));
  }
}

Task<Result<void>> Stream::write(std::string_view text) {
  iovec piece{const_cast<char*>(text.data()), text.size()};
  co_return co_await write(std::span(&piece, 1));
}

void Stream::finish_writing() {
  if (tls_ != nullptr) {
    tls_->send_close_notify();
  }
  socket_.shutdown_write();
}

}  // namespace codeflare::net::internal
