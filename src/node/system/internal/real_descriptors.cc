#include "base/env/passed_descriptors.h"
#include "node/system/descriptors.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

namespace codeflare::node {

namespace {

constexpr std::size_t kDescriptorsMax = 8;
using Control = std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)>;

}  // namespace

Result<Pipe> make_pipe(int flags) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), flags) != 0) {
    return fail(posix_error(errno, "make a pipe"));
  }
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

Result<Terminal> make_terminal(int columns, int rows) {
  Terminal terminal{.outside = FileDescriptor(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)),
                    .inside = {}};
  int locked = 0;
  if (!terminal.outside || ::ioctl(terminal.outside.get(), TIOCSPTLCK, &locked) != 0) {
    return fail(posix_error(errno, "make a terminal"));
  }
  // By descriptor: a name could lead elsewhere in a container.
  terminal.inside =
      FileDescriptor(::ioctl(terminal.outside.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!terminal.inside) {
    return fail(posix_error(errno, "open a terminal"));
  }
  if (columns > 0 && rows > 0) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    static_cast<void>(::ioctl(terminal.outside.get(), TIOCSWINSZ, &size));
  }
  return terminal;
}

Result<std::pair<FileDescriptor, FileDescriptor>> make_packet_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return fail(posix_error(errno, "make a pair of sockets"));
  }
  return std::pair(FileDescriptor(ends[0]), FileDescriptor(ends[1]));
}

Result<void> send_with_descriptors(int socket, std::string_view bytes,
                                   std::span<const int> descriptors) {
  alignas(cmsghdr) Control control{};
  iovec place{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t size = 0;
  do {
    size = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  if (size != static_cast<ssize_t>(bytes.size())) {
    return fail(posix_error(size < 0 ? errno : EAGAIN, "pass descriptors"));
  }
  return {};
}

Packet receive_packet(int socket, std::size_t bytes_max) {
  alignas(cmsghdr) Control control{};
  Packet packet;
  packet.bytes.resize(bytes_max);
  iovec place{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  packet.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (size >= 0) {
    take_descriptors(message, packet.descriptors);
  }
  return packet;
}

}  // namespace codeflare::node
