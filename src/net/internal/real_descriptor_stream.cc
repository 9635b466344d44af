#include "base/env/passed_descriptors.h"
#include "net/descriptor_stream.h"
#include "net/internal/real_local_stream.h"
#include "net/internal/real_socket.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include <utility>

namespace codeflare::net {

namespace {

constexpr std::size_t kPieceBytes = 32u << 10;
// More than any answer carries.
constexpr std::size_t kDescriptorsMax = 8;

Error broken(int number, const char* what) {
  return unavailable(posix_error(number, what).message);
}

// Readiness comes from the socket class, which takes any descriptor; the bytes are moved here,
// because pipes and terminals know neither recv() nor sendmsg().
class RealDescriptorStream final : public DescriptorStream {
 public:
  RealDescriptorStream(Loop& loop, FileDescriptor descriptor)
      : socket_(loop, nonblocking(std::move(descriptor))) {}

  Task<Result<std::string>> read() override {
    std::array<char, kPieceBytes> buffer;
    for (;;) {
      const ssize_t size =
          socket_.open() ? ::read(socket_.descriptor(), buffer.data(), buffer.size()) : 0;
      // The inside of a terminal that nobody has open is its end.
      if (size == 0 || (size < 0 && errno == EIO)) {
        co_return std::string();
      }
      if (size > 0) {
        co_return std::string(buffer.data(), static_cast<std::size_t>(size));
      }
      if (errno == EAGAIN) {
        CO_TRY(co_await socket_.readable());
      } else if (errno != EINTR) {
        co_return fail(broken(errno, "read"));
      }
    }
  }

  Task<Result<void>> write(std::string bytes) override {
    for (std::size_t at = 0; at < bytes.size();) {
      if (!socket_.open()) {
        co_return fail(unavailable("it was closed"));
      }
      const ssize_t size = ::write(socket_.descriptor(), bytes.data() + at, bytes.size() - at);
      if (size >= 0) {
        at += static_cast<std::size_t>(size);
      } else if (errno == EAGAIN) {
        CO_TRY(co_await socket_.writable());
      } else if (errno != EINTR) {
        co_return fail(broken(errno, "write"));
      }
    }
    co_return Result<void>();
  }

  Task<Result<void>> finish() override {
    if (socket_.open() && ::shutdown(socket_.descriptor(), SHUT_WR) != 0 && errno == ENOTSOCK &&
        ::isatty(socket_.descriptor()) == 0) {
      socket_.close();
    }
    co_return Result<void>();
  }

  Result<void> set_terminal_size(TerminalSize size) override {
    winsize window{};
    window.ws_col = size.columns;
    window.ws_row = size.rows;
    if (!socket_.open() || ::ioctl(socket_.descriptor(), TIOCSWINSZ, &window) != 0) {
      return fail(posix_error(errno, "set the size of a terminal"));
    }
    return {};
  }

  Task<Result<void>> connected() override {
    CO_TRY(co_await socket_.writable());
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket_.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
    if (error != 0) {
      co_return fail(broken(error, "connect"));
    }
    co_return Result<void>();
  }

 private:
  static int nonblocking(FileDescriptor descriptor) {
    ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
    return descriptor.release();
  }

  internal::Socket socket_;
};

class RealDescriptorChannel final : public DescriptorChannel {
 public:
  RealDescriptorChannel(Loop& loop, FileDescriptor descriptor)
      : socket_(loop, descriptor.release()) {}

  Task<Result<Piece>> read() override {
    for (;;) {
      Piece piece;
      const ssize_t size = receive(piece);
      if (size >= 0) {
        co_return piece;
      }
      if (errno == EAGAIN) {
        CO_TRY(co_await socket_.readable());
      } else if (errno != EINTR) {
        co_return fail(broken(errno, "read"));
      }
    }
  }

  Task<Result<void>> write(std::string bytes) override {
    iovec piece{bytes.data(), bytes.size()};
    while (piece.iov_len > 0) {
      const internal::Io io = socket_.try_write(std::span(&piece, 1));
      if (io.kind == internal::Io::Kind::want_write) {
        CO_TRY(co_await socket_.writable());
      } else if (io.kind != internal::Io::Kind::done) {
        co_return fail(socket_.last_error());
      } else {
        piece.iov_base = static_cast<char*>(piece.iov_base) + io.bytes;
        piece.iov_len -= io.bytes;
      }
    }
    co_return Result<void>();
  }

 private:
  // As recvmsg(), with errno.
  ssize_t receive(Piece& piece) {
    std::array<char, 16384> buffer;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> control;
    iovec place{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket_.descriptor(), &message, MSG_CMSG_CLOEXEC);
    if (size < 0) {
      return size;
    }
    take_descriptors(message, piece.descriptors);
    piece.bytes.assign(buffer.data(), static_cast<std::size_t>(size));
    return size;
  }

  internal::Socket socket_;
};

}  // namespace

std::unique_ptr<DescriptorStream> make_descriptor_stream(Loop& loop, FileDescriptor descriptor) {
  return std::make_unique<RealDescriptorStream>(loop, std::move(descriptor));
}

Result<std::unique_ptr<DescriptorChannel>> connect_descriptors(Loop& loop,
                                                               const std::string& path) {
  TRY_ASSIGN(FileDescriptor socket, internal::connect_unix(path));
  return std::make_unique<RealDescriptorChannel>(loop, std::move(socket));
}

}  // namespace codeflare::net
