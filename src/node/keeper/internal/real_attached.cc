#include "node/keeper/internal/real_attached.h"

#include "node/system/descriptors.h"
#include "node/wire/message.h"
#include "node/wire/stream_protocol.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace codeflare::node::internal {

namespace {

constexpr std::size_t kAttachedMax = 16;
// The bytes that a reader may be behind; the kernel gives less when it must.
constexpr int kPipeBytes = 1 << 20;

Result<Pipe> make_wide_pipe() {
  TRY_ASSIGN(Pipe pipe, make_pipe(O_CLOEXEC));
  ::fcntl(pipe.writing.get(), F_SETFL, O_NONBLOCK);
  static_cast<void>(::fcntl(pipe.writing.get(), F_SETPIPE_SZ, kPipeBytes));
  return pipe;
}

bool has_reader(const FileDescriptor& pipe) {
  pollfd wait{.fd = pipe.get(), .events = 0, .revents = 0};
  return ::poll(&wait, 1, 0) == 0 || (wait.revents & POLLERR) == 0;
}

}  // namespace

void Attached::forget_gone() {
  std::erase_if(all_, [](const One& one) { return !has_reader(one.output); });
}

Result<void> Attached::add(FileDescriptor& connection, const Input& input) {
  forget_gone();
  if (all_.size() >= kAttachedMax) {
    return fail(resource_exhausted("too many look at this container"));
  }
  TRY_ASSIGN(Pipe output, make_wide_pipe());
  TRY_ASSIGN(Pipe error_output, make_wide_pipe());
  StreamAnswer answer{.descriptors = {"output"}};
  std::vector<int> descriptors = {output.reading.get()};
  const auto add = [&](const char* name, int descriptor) {
    answer.descriptors.emplace_back(name);
    descriptors.push_back(descriptor);
  };
  if (input.terminal >= 0) {
    add("terminal", input.terminal);
  } else {
    add("error", error_output.reading.get());
    if (input.pipe >= 0) {
      add("input", input.pipe);
    }
  }
  TRY(send_with_descriptors(connection.get(), framed(answer), descriptors));
  all_.push_back({.connection = std::move(connection),
                  .output = std::move(output.writing),
                  .error_output = std::move(error_output.writing)});
  return {};
}

void Attached::show(std::string_view bytes, bool is_error) {
  for (const One& one : all_) {
    const FileDescriptor& pipe = is_error ? one.error_output : one.output;
    // SIGPIPE is ignored, and whoever is gone is forgotten when the next one comes.
    static_cast<void>(!::write(pipe.get(), bytes.data(), bytes.size()));
  }
}

void Attached::end(std::int32_t exit_code) {
  const StreamAnswer answer{.ended = true, .exit_code = exit_code};
  const std::string bytes = framed(answer);
  for (const One& one : std::exchange(all_, {})) {
    static_cast<void>(send_with_descriptors(one.connection.get(), bytes, {}));
  }
}

Result<FileDescriptor> begin_to_connect(const std::string& address, std::int32_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = ::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1;
  if ((!is_v4 && ::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) != 1) || port < 1 ||
      port > 65535) {
    return fail(invalid_argument("\"" + address + "\" port " + std::to_string(port) +
                                 " is nothing to connect to"));
  }
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  FileDescriptor socket(
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) {
    return fail(posix_error(errno, "make a socket"));
  }
  const auto* to =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  if (::connect(socket.get(), to, size) != 0 && errno != EINPROGRESS) {
    return fail(posix_error(errno, "connect to " + address + " port " + std::to_string(port)));
  }
  return socket;
}

}  // namespace codeflare::node::internal
