#include "node/holder/internal/real_relay.h"

#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kChunk = 64u << 10;

void prepare(const FileDescriptor& socket) {
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

}  // namespace

Relay::Relay(Poller& poller, FileDescriptor left, FileDescriptor right, std::function<void()> done,
             std::function<void()> moved)
    : poller_(poller),
      left_{.socket = std::move(left)},
      right_{.socket = std::move(right)},
      done_(std::move(done)),
      moved_(std::move(moved)) {
  prepare(left_.socket);
  prepare(right_.socket);
  wait(left_, right_);
  wait(right_, left_);
}

Relay::~Relay() {
  poller_.remove(left_.id);
  poller_.remove(right_.id);
}

// False when the connection is broken.
bool Relay::receive(Side& from, Side& to) {
  std::array<char, kChunk> buffer;
  const ssize_t size = ::recv(from.socket.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  if (size == 0) {
    from.ended = true;
  }
  to.unsent.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

bool Relay::send(Side& to, const Side& from) {
  while (!to.unsent.empty()) {
    const ssize_t size = ::send(to.socket.get(), to.unsent.data(), to.unsent.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return errno == EAGAIN;
    }
    to.unsent.erase(0, static_cast<std::size_t>(size));
  }
  // A connection that is quiet holds no memory.
  std::string().swap(to.unsent);
  if (from.ended && !to.told_the_end) {
    to.told_the_end = true;
    ::shutdown(to.socket.get(), SHUT_WR);
  }
  return true;
}

// A descriptor that nothing is wanted of is not waited for at all: one whose both ends are closed
// would be reported again and again.
void Relay::wait(Side& side, Side& other) {
  const bool wants_more = !side.ended && other.unsent.empty();
  const std::uint32_t events = (wants_more ? std::uint32_t{EPOLLIN} : 0u) |
                               (side.unsent.empty() ? 0u : std::uint32_t{EPOLLOUT});
  if (events == 0) {
    poller_.remove(std::exchange(side.id, 0));
  } else if (side.id != 0) {
    poller_.change(side.id, events);
  } else {
    const Result<Poller::Id> id =
        poller_.add(side.socket.get(), events,
                    [this, &side, &other](std::uint32_t now) { ready(side, other, now); });
    side.id = id.value_or(0);
  }
}

void Relay::ready(Side& side, Side& other, std::uint32_t events) {
  bool whole = true;
  if ((events & EPOLLOUT) != 0) {
    whole = send(side, other);
  } else if (!side.ended && other.unsent.empty()) {
    if (moved_) {
      moved_();
    }
    whole = receive(side, other) && send(other, side);
  } else if ((events & EPOLLERR) != 0) {
    whole = false;
  }
  const bool over = left_.told_the_end && right_.told_the_end;
  if (!whole || over) {
    finish();
    return;
  }
  wait(side, other);
  wait(other, side);
}

void Relay::finish() {
  poller_.remove(std::exchange(left_.id, 0));
  poller_.remove(std::exchange(right_.id, 0));
  // May destroy us.
  const std::function<void()> done = std::move(done_);
  done();
}

}  // namespace codeflare::node::internal
