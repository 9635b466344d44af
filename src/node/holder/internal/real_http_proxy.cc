#include "node/holder/internal/real_http_proxy.h"

#include "node/holder/fair_shares.h"
#include "node/holder/internal/real_poller.h"
#include "node/holder/internal/real_relay.h"
#include "node/holder/internal/real_sockets.h"
#include "node/holder/proxy_request.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace codeflare::node::internal {

namespace {

constexpr time_t kHeadSeconds = 30;
constexpr int kLookEveryMs = 1000;

Result<void> send_all(const FileDescriptor& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return fail(posix_error(errno, "send"));
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

// The request, and what came behind it.
Result<ProxyRequest> read_request(const FileDescriptor& client, std::string& received) {
  for (;;) {
    TRY_ASSIGN(std::optional<ProxyRequest> request, parse_proxy_request(received));
    if (request) {
      received.erase(0, request->used);
      return *std::move(request);
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = ::recv(client.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return fail(unavailable("the client went away"));
    }
    received.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

void refuse(const FileDescriptor& client, const char* status, const Error& error) {
  const std::string text = error.message + "\n";
  static_cast<void>(send_all(
      client, "HTTP/1.1 " + std::string(status) +
                  "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(text.size()) +
                  "\r\nConnection: close\r\n\r\n" + text));
}

Result<void> copy_until_end(FileDescriptor client, FileDescriptor server,
                            const std::function<void()>& moved) {
  for (const FileDescriptor* one : {&client, &server}) {
    ::fcntl(one->get(), F_SETFL, O_NONBLOCK);
  }
  TRY_ASSIGN(Poller poller, Poller::open());
  bool done = false;
  Relay relay(poller, std::move(client), std::move(server), [&done] { done = true; }, moved);
  while (!done) {
    TRY(poller.turn());
  }
  return {};
}

// In a process of its own.
void serve(FileDescriptor client, Ipv4 from, const Dial& dial, const std::function<void()>& moved) {
  const timeval patience{.tv_sec = kHeadSeconds, .tv_usec = 0};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string received;
  const Result<ProxyRequest> request = read_request(client, received);
  if (!request) {
    refuse(client, "400 Bad Request", request.error());
    return;
  }
  Result<FileDescriptor> server = dial({request->host, request->port, from});
  if (!server) {
    refuse(client, "502 Bad Gateway", server.error());
    return;
  }
  const Result<void> begun = request->tunnel
                                 ? send_all(client, "HTTP/1.1 200 Connection established\r\n\r\n")
                                 : send_all(*server, request->head);
  if (begun && send_all(*server, received)) {
    static_cast<void>(copy_until_end(std::move(client), *std::move(server), moved));
  }
}

// A connection goes as its proxy does, which waits for signals instead of being ended by them.
void end_with_parent() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}

// The processes of the connections. Each notes its uses in memory that all of them share, so that
// the longest idle one can be found.
class Connections {
 public:
  using Counter = std::atomic<std::uint64_t>;
  static_assert(Counter::is_always_lock_free);

  static Result<Connections> open(std::size_t most) {
    const std::size_t bytes = (most + 1) * sizeof(Counter);
    void* shared =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
      return fail(posix_error(errno, "map memory for connections"));
    }
    return Connections(most, static_cast<Counter*>(shared));
  }

  // Forgets connections that have ended.
  void reap() {
    while (shares_.size() > 0) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended <= 0) {
        return;
      }
      remove(ended);
    }
  }

  // Ends a connection if there is no room. The place is the newcomer's until it is added.
  std::size_t make_room(Ipv4 newcomer) {
    if (shares_.full()) {
      order_by_use();
    }
    if (const std::optional<pid_t> victim = shares_.victim(newcomer)) {
      ::kill(*victim, SIGKILL);  // not reaped yet, so the id is still its own
      ::waitpid(*victim, nullptr, 0);
      remove(*victim);
    }
    const auto free = std::ranges::find(processes_, 0);
    return static_cast<std::size_t>(free - processes_.begin());
  }

  void add(Ipv4 client, std::size_t place, pid_t process) {
    processes_[place] = process;
    shares_.add(client, process);
    use(place);
  }

  // Called by the connection's process, too.
  void use(std::size_t place) { last_uses()[place].store(++*uses_); }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(Counter* counters) const { ::munmap(counters, bytes); }
  };

  Connections(std::size_t most, Counter* counters)
      : uses_(counters, Unmap{(most + 1) * sizeof(Counter)}), processes_(most), shares_(most) {}

  Counter* last_uses() const { return uses_.get() + 1; }

  void remove(pid_t process) {
    std::ranges::replace(processes_, process, 0);
    shares_.remove(process);
  }

  void order_by_use() {
    std::vector<std::pair<std::uint64_t, pid_t>> order;
    for (std::size_t place = 0; place < processes_.size(); ++place) {
      order.emplace_back(last_uses()[place].load(), processes_[place]);
    }
    std::ranges::sort(order);
    for (const auto& [use, process] : order) {
      shares_.touch(process);
    }
  }

  std::unique_ptr<Counter, Unmap> uses_;  // of all, then the last one of each place
  std::vector<pid_t> processes_;          // 0: the place is free
  FairShares<pid_t> shares_;
};

}  // namespace

Result<void> run_http_proxy(const FileDescriptor& listener, const Dial& dial,
                            const std::function<bool()>& go_on, const FileDescriptor& signals,
                            std::size_t connections_max) {
  ::signal(SIGPIPE, SIG_IGN);
  TRY_ASSIGN(Connections connections, Connections::open(connections_max));
  while (go_on()) {
    connections.reap();
    // Without a descriptor poll() passes over the signals.
    std::array<pollfd, 2> waits = {pollfd{.fd = listener.get(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = signals.get(), .events = POLLIN, .revents = 0}};
    if (::poll(waits.data(), waits.size(), kLookEveryMs) < 0 && errno != EINTR) {
      return fail(posix_error(errno, "wait for connections"));
    }
    if (waits[1].revents != 0) {
      return {};
    }
    if (waits[0].revents == 0) {
      continue;
    }
    sockaddr_in from{};
    socklen_t size = sizeof from;
    FileDescriptor client(
        ::accept4(listener.get(), reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC));
    if (!client) {
      continue;
    }
    const Ipv4 source = from_sockaddr(from).address;
    const std::size_t place = connections.make_room(source);
    const pid_t child = ::fork();
    if (child == 0) {
      // Our successor must be able to listen there while we still serve.
      ::close(listener.get());
      if (signals) {
        end_with_parent();
      }
      serve(std::move(client), source, dial, [&] { connections.use(place); });
      ::_exit(0);
    }
    if (child > 0) {
      connections.add(source, place, child);
    }
  }
  return {};
}

}  // namespace codeflare::node::internal
