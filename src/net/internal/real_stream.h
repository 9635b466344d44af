#pragma once

#include "net/internal/real_socket.h"
#include "net/internal/real_tls.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace codeflare::net::internal {

// A connection's bytes, plain or through TLS.
class Stream {
 public:
  explicit Stream(Socket socket, std::unique_ptr<TlsSession> tls = nullptr);
  Stream(Stream&&) noexcept;
  ~Stream();

  Io try_read(std::span<char> buffer);
  // Whether try_read may have bytes although the socket has not become readable again.
  bool holds_input() const;

  // At least one byte; zero at the end of the stream. `buffer` may be shared by all streams of a
  // loop: it is touched only when bytes arrive, in the step that returns.
  Task<Result<std::size_t>> read(std::span<char> buffer);
  // Writes the held bytes, as many as the other side takes at once; the list is left with the rest.
  // Says what to wait for when there is a rest: the same bytes must then come again.
  Result<Io> write_some(std::span<iovec>& pieces);
  // All of it; the memory and the list stay the caller's, the list is used up. A write that was
  // given up leaves the stream unusable.
  Task<Result<void>> write(std::span<iovec> pieces);
  Task<Result<void>> write(std::string_view text);

  // A write in two steps, over TLS. First its records are appended to `wire`; false when it has to
  // be written the ordinary way. Before anything else happens to the stream they are sent: what the
  // other side does not take at once is held and goes ahead of whatever is written next; false
  // then.
  Result<bool> prepare(std::span<const iovec> pieces, std::string& wire);
  Result<bool> send(std::string_view wire);
  bool holds_output() const { return tls_ != nullptr && !tls_->held().empty(); }

  std::uint64_t bytes_written() const { return bytes_written_; }
  // Tells the peer that nothing more comes, without waiting.
  void finish_writing();
  Socket& socket() { return socket_; }
  TlsSession* tls() const { return tls_.get(); }
  // For who goes on with the socket under another session; this stream is of no use then.
  std::unique_ptr<TlsSession> take_tls() { return std::move(tls_); }

 private:
  Io try_write(std::span<const iovec> pieces);
  Result<Io> send_held();
  Error last_error() const;

  Socket socket_;
  std::unique_ptr<TlsSession> tls_;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace codeflare::net::internal
