#include "base/env/file_system.h"
#include "base/env/passed_descriptors.h"
#include "node/wire/holder_call.h"
#include "node/wire/message.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <utility>

namespace codeflare::node {

namespace {

constexpr std::size_t kDescriptorsMax = 4;
constexpr time_t kPatienceSeconds = 20;

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kDescriptorsMax)> bytes{};
};

Result<FileDescriptor> connect_to(const std::string& path) {
  // Socket addresses are short: the name is looked up from its directory.
  FileDescriptor directory(::open(parent_path(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string name =
      "/proc/self/fd/" + std::to_string(directory.get()) + "/" + path.substr(path.rfind('/') + 1);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() >= sizeof address.sun_path) {
    return fail(invalid_argument("the name of socket " + path + " is too long"));
  }
  std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!directory || !socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(unavailable(posix_error(errno, "connect to " + path).message));
  }
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return socket;
}

Result<void> send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return fail(unavailable(posix_error(errno, "ask the holder").message));
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<HolderReply> receive(int socket) {
  FrameReader frames;
  std::vector<FileDescriptor> descriptors;
  for (;;) {
    std::array<char, 16384> buffer{};
    Control control;
    iovec piece{.iov_base = buffer.data(), .iov_len = buffer.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return fail(unavailable(size == 0 ? std::string("the holder went away")
                                        : posix_error(errno, "hear from the holder").message));
    }
    take_descriptors(message, descriptors);
    frames.add({buffer.data(), static_cast<std::size_t>(size)});
    TRY_ASSIGN(const std::optional<std::string> text, frames.next());
    if (text) {
      TRY_ASSIGN(HolderAnswer answer, parse_message<HolderAnswer>(*text));
      return HolderReply{.answer = std::move(answer), .descriptors = std::move(descriptors)};
    }
  }
}

}  // namespace

Result<HolderReply> call_holder(const std::string& socket, const HolderRequest& request) {
  TRY_ASSIGN(const FileDescriptor connection, connect_to(socket));
  TRY(send_all(connection.get(), framed(request)));
  TRY_ASSIGN(HolderReply reply, receive(connection.get()));
  if (!reply.answer.error.empty()) {
    return fail(failed_precondition(reply.answer.error));
  }
  return reply;
}

}  // namespace codeflare::node
