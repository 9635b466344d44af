#include "kube/port_forward.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "kube/internal/pod_socket.h"
#include "kube/path.h"
#include "net/upgrade.h"
#include "net/websocket_alive.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace codeflare::kube {

namespace {

constexpr std::uint8_t kData = 0;
constexpr std::uint8_t kError = 1;
constexpr std::size_t kHelloBytes = 2;  // each channel begins with its port
constexpr Duration kRestWithin = std::chrono::seconds(10);

class ForwardSession {
 public:
  ForwardSession(net::ByteStream& connection, Env env, net::ByteStream& local)
      : socket_(connection, env.random), local_(local) {}

  Task<Result<void>> run() {
    const TaskContext& context = co_await current_context();
    StopSource enough(context.stop);
    const TaskContext inner{context.loop, enough.token()};
    TaskGroup sending(*context.loop, context.stop);
    sending.spawn(send(enough));
    Result<void> received = co_await receive().under(inner);
    co_await sending.close();
    co_await socket_.close(net::kWebSocketNormal, {});
    if (enough.stop_requested() && !context.stop.stop_requested()) {
      co_return Result<void>();
    }
    static_cast<void>(co_await local_.finish());
    co_return received;
  }

 private:
  Task<void> send(StopSource& enough) {
    for (;;) {
      const Result<std::string> bytes = co_await local_.read();
      if (!bytes || bytes->empty()) {
        break;
      }
      if (!co_await internal::write_channel(socket_, kData, *bytes)) {
        co_return;
      }
    }
    std::uint64_t pieces = 0;
    do {
      pieces = pieces_;
      if (!co_await sleep_for(kRestWithin)) {
        co_return;
      }
    } while (pieces != pieces_);
    enough.request_stop();
  }

  Task<Result<void>> receive() {
    for (;;) {
      CO_TRY_ASSIGN(std::optional<net::WebSocketMessage> message,
                    co_await net::read_while_alive(socket_, internal::kPodSocketQuiet));
      if (!message) {
        co_return Result<void>();
      }
      ++pieces_;
      CO_TRY(co_await take(std::move(message->payload)));
    }
  }

  Task<Result<void>> take(std::string payload) {
    if (payload.empty() || static_cast<std::uint8_t>(payload[0]) > kError) {
      co_return Result<void>();
    }
    const auto channel = static_cast<std::uint8_t>(payload[0]);
    std::string bytes = payload.substr(1);
    const std::size_t hello = std::min(hello_[channel], bytes.size());
    hello_[channel] -= hello;
    bytes.erase(0, hello);
    if (bytes.empty()) {
      co_return Result<void>();
    }
    if (channel == kError) {
      co_return fail(unavailable(std::move(bytes)));
    }
    co_return co_await local_.write(std::move(bytes));
  }

  net::WebSocketConnection socket_;
  net::ByteStream& local_;
  std::uint64_t pieces_ = 0;  // that came from the pod
  std::array<std::size_t, 2> hello_{kHelloBytes, kHelloBytes};
};

struct Conversation {
  Env env;
  net::ByteStream& local;
  Result<void> outcome{};
};

Task<void> talk(net::ByteStream& connection, Conversation& about) {
  ForwardSession session(connection, about.env, about.local);
  about.outcome = co_await session.run();
}

}  // namespace

Task<Result<void>> forward_connection(Env env, net::HttpService& service, PodPort to,
                                      net::ByteStream& local) {
  CO_TRY_ASSIGN(std::string path, internal::pod_path(to.pod, "portforward"));
  std::string target = Query().add("ports", std::int64_t{to.port}).on(std::move(path));
  std::vector<std::string> protocols{internal::kChannelsV4};
  CO_TRY_ASSIGN(
      net::WebSocketAnswer answer,
      co_await internal::open_pod_socket(env, service, std::move(target), std::move(protocols)));
  Conversation about{.env = env, .local = local};
  CO_TRY(co_await net::converse(std::move(answer.response), [&about](net::ByteStream& connection) {
    return talk(connection, about);
  }));
  co_return std::move(about.outcome);
}

}  // namespace codeflare::kube
