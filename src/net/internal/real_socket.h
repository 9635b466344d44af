#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "base/time.h"

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>
#include <vector>

namespace codeflare::net::internal {

// One attempt to move bytes without waiting.
struct Io {
  enum class Kind : std::uint8_t { done, end, want_read, want_write, failed };
  Kind kind = Kind::failed;
  std::size_t bytes = 0;

  bool wants() const { return kind == Kind::want_read || kind == Kind::want_write; }
};

// An address that can be connected to or listened on.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::uint16_t port() const;
  std::string to_string() const;  // "127.0.0.1:80", "[::1]:80"
};

// A literal IPv4 or IPv6 address; no look-up.
Result<Endpoint> parse_endpoint(std::string_view host, std::uint16_t port);

// A non-blocking socket on a real loop. Asio is asked for readiness only and the bytes are moved by
// plain system calls, so that a waiting connection holds no buffer and a wait that is given up
// loses no bytes.
class Socket {
 public:
  Socket() = default;
  // Takes over the descriptor.
  Socket(Loop& loop, int descriptor);
  Socket(Socket&& other) noexcept
      : state_(std::move(other.state_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket() { close(); }

  bool open() const { return state_ != nullptr; }
  int descriptor() const { return descriptor_; }
  // Wakes all waiters, which fail.
  void close();

  class Wait;
  // Result<void>; one waiter per side. May return early: attempt, then wait again.
  Wait readable();
  Wait writable();
  // For what an attempt said it wants.
  Wait wanted(const Io& io);

  // Calls back once when bytes (or the end) arrive while nobody awaits readable(), for noticing a
  // peer that goes away. The callback may destroy the socket.
  void watch(Work on_readable);
  void unwatch();

  // Waits fail with deadline_exceeded from now on, the pending ones too, until resume_waits().
  void interrupt();
  void resume_waits();
  bool interrupted() const;

  Io try_read(std::span<char> buffer);
  Io try_write(std::span<const iovec> pieces);
  Io try_send(std::string_view bytes);
  // The error of the last failed attempt.
  Error last_error() const;

  void shutdown_write();
  // Sends a reset instead of an orderly end when closed.
  void reset_on_close();
  void set_no_delay();
  struct DeadPeer {
    Duration keepalive_idle = std::chrono::seconds(15);
    int keepalive_probes = 3;
    Duration user_timeout = std::chrono::seconds(30);
  };
  // A peer that vanished without a word is noticed within about `user_timeout`.
  void set_dead_peer_detection(const DeadPeer& options);
  Endpoint local() const;
  Endpoint remote() const;

 private:
  enum class Direction : std::uint8_t { read, write };
  struct State;
  std::shared_ptr<State> state_;
  int descriptor_ = -1;  // of the state
};

class Socket::Wait {
 public:
  Wait(std::shared_ptr<State> state, Direction direction)
      : state_(std::move(state)), direction_(direction) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return begin(self, self.promise().context());
  }
  Result<void> await_resume();

 private:
  bool begin(std::coroutine_handle<> self, const TaskContext& context);

  friend struct State;
  std::shared_ptr<State> state_;
  Direction direction_;
  codeflare::internal::Waiter waiter_;
  bool cancelled_ = false;
  bool interrupted_ = false;
};

Result<Socket> listen_on(Loop& loop, const Endpoint& endpoint);
// Asio makes a small record for each descriptor that it watches and keeps it for later ones. Made
// while a connection makes its own, each would hold a page of what that leaves behind, for good. So
// they are made in rows: `count` for sockets to come, or as many as there are descriptors.
void make_records(Loop& loop, std::size_t count);
// An accepted connection, nothing when none is there, or an error: `resource_exhausted` when
// descriptors have run out.
Result<Socket> accept_from(Loop& loop, const Socket& listener);
Task<Result<Socket>> connect_to(Loop& loop, Endpoint endpoint);
// The same by a socket that is not connected yet.
Task<Result<Socket>> connect_by(Socket socket, Endpoint endpoint);

}  // namespace codeflare::net::internal
