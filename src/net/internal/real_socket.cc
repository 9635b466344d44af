#include "net/internal/real_socket.h"

#include "base/env/real_env.h"

#include <boost/asio/posix/stream_descriptor.hpp>

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <sys/eventfd.h>
#include <system_error>
#include <utility>
#include <vector>

namespace codeflare::net::internal {

namespace asio = boost::asio;

namespace {

std::string error_text(int number) {
  return std::generic_category().message(number);
}

Error io_error(int number) {
  return unavailable(error_text(number));
}

template <typename T>
void set_option(int descriptor, int level, int name, T value) {
  // Options tune; a kernel may lack one.
  static_cast<void>(setsockopt(descriptor, level, name, &value, sizeof value));
}

int seconds_of(Duration duration) {
  return static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

}  // namespace

std::uint16_t Endpoint::port() const {
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return 0;
}

std::string Endpoint::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(port());
  }
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(port());
  }
  return "unknown";
}

Result<Endpoint> parse_endpoint(std::string_view host, std::uint16_t port) {
  std::string text(host);
  Endpoint endpoint;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&endpoint.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    endpoint.size = sizeof(sockaddr_in);
    return endpoint;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&endpoint.storage);
  if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    endpoint.size = sizeof(sockaddr_in6);
    return endpoint;
  }
  return fail(invalid_argument("\"" + text + "\" is not an IP address"));
}

// Asio's completion handlers keep the state alive, so a socket may go away while one is under way.
struct Socket::State : std::enable_shared_from_this<State> {
  State(Loop& loop, int descriptor_in) : descriptor(io_context_of(loop), descriptor_in) {}

  struct Side {
    bool armed = false;  // Asio has been asked and has not answered
    Wait* waiter = nullptr;
    Work watch;
  };

  Side& side(Direction direction) { return direction == Direction::read ? read : write; }

  void arm(Direction direction) {
    Side& which = side(direction);
    if (which.armed) {
      return;
    }
    which.armed = true;
    auto kind = direction == Direction::read ? asio::posix::descriptor_base::wait_read
                                             : asio::posix::descriptor_base::wait_write;
    descriptor.async_wait(kind,
                          [self = shared_from_this(), direction](const boost::system::error_code&) {
                            self->on_ready(direction);
                          });
  }

  // An error means that the socket was closed; then nobody waits any more.
  void on_ready(Direction direction) {
    Side& which = side(direction);
    which.armed = false;
    if (which.waiter != nullptr) {
      std::exchange(which.waiter, nullptr)->waiter_.wake();
    } else if (which.watch && !closed) {
      Work watch = std::move(which.watch);
      which.watch = nullptr;
      watch();
    }
  }

  template <typename Call>
  Io sent(Call call) {
    for (;;) {
      const ssize_t count = call();
      if (count >= 0) {
        return {Io::Kind::done, static_cast<std::size_t>(count)};
      }
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return {Io::Kind::want_write};
      }
      if (errno != EINTR) {
        error = errno;
        return {Io::Kind::failed};
      }
    }
  }

  void interrupt(Side& which) {
    if (which.waiter != nullptr) {
      which.waiter->interrupted_ = true;
      std::exchange(which.waiter, nullptr)->waiter_.wake();
    }
  }

  asio::posix::stream_descriptor descriptor;
  Side read;
  Side write;
  bool interrupted = false;
  bool closed = false;
  int error = 0;
};

Socket::Socket(Loop& loop, int descriptor)
    : state_(std::make_shared<State>(loop, descriptor)), descriptor_(descriptor) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    state_ = std::move(other.state_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void Socket::close() {
  if (state_ == nullptr) {
    return;
  }
  std::shared_ptr<State> state = std::move(state_);
  state_ = nullptr;
  descriptor_ = -1;
  state->closed = true;
  state->interrupted = true;
  state->read.watch = nullptr;
  boost::system::error_code ignored;
  state->descriptor.close(ignored);
  state->interrupt(state->read);
  state->interrupt(state->write);
}

Socket::Wait Socket::readable() {
  return {state_, Direction::read};
}

Socket::Wait Socket::writable() {
  return {state_, Direction::write};
}

Socket::Wait Socket::wanted(const Io& io) {
  return io.kind == Io::Kind::want_write ? writable() : readable();
}

void Socket::watch(Work on_readable) {
  state_->read.watch = std::move(on_readable);
  state_->arm(Direction::read);
}

void Socket::unwatch() {
  state_->read.watch = nullptr;
}

void Socket::interrupt() {
  state_->interrupted = true;
  state_->interrupt(state_->read);
  state_->interrupt(state_->write);
}

void Socket::resume_waits() {
  state_->interrupted = false;
}

bool Socket::interrupted() const {
  return state_->interrupted;
}

bool Socket::Wait::begin(std::coroutine_handle<> self, const TaskContext& context) {
  if (context.stop.stop_requested()) {
    cancelled_ = true;
    return false;
  }
  if (state_ == nullptr || state_->interrupted) {
    interrupted_ = true;
    return false;
  }
  State::Side& side = state_->side(direction_);
  CHECK(side.waiter == nullptr, "two coroutines wait for one side of a socket");
  side.waiter = this;
  waiter_.suspend(self, context, [this] { state_->side(direction_).waiter = nullptr; });
  state_->arm(direction_);
  return true;
}

Result<void> Socket::Wait::await_resume() {
  if (cancelled_ || waiter_.stopped()) {
    return fail(cancelled());
  }
  if (interrupted_) {
    return fail(deadline_exceeded("interrupted"));
  }
  return {};
}

Io Socket::try_read(std::span<char> buffer) {
  for (;;) {
    ssize_t count = recv(descriptor(), buffer.data(), buffer.size(), 0);
    if (count > 0) {
      return {Io::Kind::done, static_cast<std::size_t>(count)};
    }
    if (count == 0) {
      return {Io::Kind::end};
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return {Io::Kind::want_read};
    }
    if (errno != EINTR) {
      state_->error = errno;
      return {Io::Kind::failed};
    }
  }
}

Io Socket::try_write(std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = std::min<std::size_t>(pieces.size(), 1024);
  return state_->sent([&] { return sendmsg(descriptor(), &message, MSG_NOSIGNAL); });
}

Io Socket::try_send(std::string_view bytes) {
  return state_->sent(
      [&] { return ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
}

Error Socket::last_error() const {
  return io_error(state_->error);
}

void Socket::shutdown_write() {
  static_cast<void>(shutdown(descriptor(), SHUT_WR));
}

void Socket::reset_on_close() {
  set_option(descriptor(), SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0});
}

void Socket::set_no_delay() {
  set_option(descriptor(), IPPROTO_TCP, TCP_NODELAY, 1);
}

void Socket::set_dead_peer_detection(const DeadPeer& options) {
  int idle = std::max(1, seconds_of(options.keepalive_idle));
  set_option(descriptor(), SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, idle);
  set_option(descriptor(), IPPROTO_TCP, TCP_KEEPINTVL, idle);
  set_option(descriptor(), IPPROTO_TCP, TCP_KEEPCNT, options.keepalive_probes);
  set_option(descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT,
             static_cast<unsigned>(seconds_of(options.user_timeout)) * 1000u);
}

Endpoint Socket::local() const {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  static_cast<void>(
      getsockname(descriptor(), reinterpret_cast<sockaddr*>(&endpoint.storage), &endpoint.size));
  return endpoint;
}

Endpoint Socket::remote() const {
  Endpoint endpoint;
  endpoint.size = sizeof endpoint.storage;
  static_cast<void>(
      getpeername(descriptor(), reinterpret_cast<sockaddr*>(&endpoint.storage), &endpoint.size));
  return endpoint;
}

Result<Socket> listen_on(Loop& loop, const Endpoint& endpoint) {
  std::string what = "listen on " + endpoint.to_string();
  int descriptor =
      socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    return fail(io_error(errno).with_context(what));
  }
  Socket listener(loop, descriptor);
  set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(descriptor, endpoint.address(), endpoint.size) != 0 ||
      listen(descriptor, SOMAXCONN) != 0) {
    ErrorCode code = errno == EACCES ? ErrorCode::permission_denied : ErrorCode::unavailable;
    return fail(Error(code, error_text(errno)).with_context(what));
  }
  return listener;
}

void make_records(Loop& loop, std::size_t count) {
  std::vector<asio::posix::stream_descriptor> row;
  row.reserve(count);
  while (row.size() < count) {
    const int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (descriptor < 0) {
      return;
    }
    row.emplace_back(io_context_of(loop), descriptor);
  }
}

Result<Socket> accept_from(Loop& loop, const Socket& listener) {
  for (;;) {
    int descriptor = accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) {
      return Socket(loop, descriptor);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return Socket();
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      return fail(resource_exhausted("accept: " + error_text(errno)));
    }
    // Anything else concerns the one connection that was about to be accepted.
  }
}

Task<Result<Socket>> connect_to(Loop& loop, Endpoint endpoint) {
  int descriptor =
      ::socket(endpoint.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) {
    co_return fail(io_error(errno).with_context("connect to " + endpoint.to_string()));
  }
  co_return co_await connect_by(Socket(loop, descriptor), endpoint);
}

Task<Result<Socket>> connect_by(Socket socket, Endpoint endpoint) {
  const int descriptor = socket.descriptor();
  int error = ::connect(descriptor, endpoint.address(), endpoint.size) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    CO_TRY(co_await socket.writable());
    socklen_t size = sizeof error;
    if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  if (error != 0) {
    co_return fail(io_error(error).with_context("connect to " + endpoint.to_string()));
  }
  co_return socket;
}

}  // namespace codeflare::net::internal
