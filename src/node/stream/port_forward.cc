#include "node/stream/port_forward.h"

#include "base/async/task_group.h"
#include "net/spdy_session.h"
#include "net/websocket_connection.h"

#include <charconv>
#include <map>
#include <memory>
#include <utility>

namespace codeflare::node {

namespace {

using Stream = std::shared_ptr<net::SpdyStream>;

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return fail(invalid_argument("unable to parse \"" + std::string(text) + "\" as a port"));
  }
  if (port == 0) {
    return fail(invalid_argument("port \"" + std::string(text) + "\" must be > 0"));
  }
  return port;
}

std::string problem(const PortForwardTarget& target, std::string_view port, const Error& error) {
  return "error forwarding port " + std::string(port) + " to pod " + target.name + ", uid " +
         target.uid + ": " + error.message;
}

// Until the pod says nothing more, or `to` takes nothing more.
Task<void> pass_on(net::ByteStream& from, net::ByteStream& to) {
  for (;;) {
    Result<std::string> bytes = co_await from.read();
    if (!bytes || bytes->empty() || !co_await to.write(*std::move(bytes))) {
      co_return;
    }
  }
}

// The bytes of the client; its end is passed on, and when it gave up altogether nobody waits for
// the pod either.
Task<void> pass_to_pod(Stream data, net::ByteStream& pod, StopSource& gone) {
  co_await pass_on(*data, pod);
  // Bytes that the pod does not take must not hold up the other streams.
  data->stop_reading();
  static_cast<void>(co_await pod.finish());
  if (data->was_reset()) {
    gone.request_stop();
  }
}

// The bytes of the pod. Only reading is given up when the client gives up this one stream: to break
// off a write would break the connection that others share.
Task<void> pass_to_client(net::ByteStream& pod, Stream data, const TaskContext& while_wanted) {
  for (;;) {
    Result<std::string> bytes = co_await pod.read().under(while_wanted);
    if (!bytes || bytes->empty() || !co_await data->write(*std::move(bytes))) {
      co_return;
    }
  }
}

struct Pair {
  Stream data;
  Stream error;
};

Task<void> connect_pair(const PortForwardTarget& target, Pair pair) {
  const TaskContext& context = co_await current_context();
  const std::string text(pair.data->headers().get("port").value_or(""));
  const Result<std::uint16_t> port = parse_port(text);
  Result<std::unique_ptr<net::ByteStream>> pod = fail(invalid_argument(""));
  if (port) {
    pod = co_await target.pods.dial(target.uid, *port);
  } else {
    pod = fail(port.error());
  }
  if (!pod) {
    static_cast<void>(co_await pair.error->write(problem(target, text, pod.error())));
    static_cast<void>(co_await pair.error->finish());
    static_cast<void>(co_await pair.data->reset(net::kSpdyCancel));
    co_return;
  }
  StopSource gone(context.stop);
  const TaskContext inner{context.loop, gone.token()};
  TaskGroup sending(*context.loop, context.stop);
  sending.spawn(pass_to_pod(pair.data, **pod, gone));
  co_await pass_to_client(**pod, pair.data, inner);
  pair.data->stop_reading();
  static_cast<void>(co_await pair.data->finish());
  static_cast<void>(co_await pair.error->finish());
  co_await sending.close();
}

// One SPDY connection: collects pairs and starts them.
class SpdyForward {
 public:
  SpdyForward(net::ByteStream& connection, const PortForwardTarget& target)
      : session_(connection), target_(target) {}

  Task<void> run() {
    const TaskContext& context = co_await current_context();
    TaskGroup reading(*context.loop, context.stop);
    TaskGroup connections(*context.loop, context.stop);
    reading.spawn(read());
    for (;;) {
      Result<Stream> stream = co_await session_.accept();
      if (!stream || *stream == nullptr) {
        break;
      }
      if (std::optional<Pair> pair = add(*std::move(stream))) {
        connections.spawn(connect_pair(target_, *std::move(pair)));
      }
    }
    co_await connections.close();
    co_await session_.close();
    co_await reading.close();
  }

 private:
  Task<void> read() { static_cast<void>(co_await session_.run()); }

  // A pair when this stream completes one. A stream that fits nowhere waits for its other half as
  // long as the connection lives, which has a bound for its streams.
  std::optional<Pair> add(Stream stream) {
    const std::string type(stream->headers().get("streamtype").value_or(""));
    std::string request(stream->headers().get("requestid").value_or(""));
    if (request.empty()) {
      // Clients that number nothing open the two one after the other.
      request = std::to_string(type == "data" ? stream->id() - 2 : stream->id());
    }
    Pair& pair = pairs_[request];
    (type == "error" ? pair.error : pair.data) = std::move(stream);
    if (pair.error == nullptr || pair.data == nullptr) {
      return std::nullopt;
    }
    std::optional<Pair> complete(std::move(pair));
    pairs_.erase(request);
    return complete;
  }

  net::SpdySession session_;
  const PortForwardTarget& target_;
  std::map<std::string, Pair> pairs_;
};

// One WebSocket with a channel pair per port.
class ChannelForward {
 public:
  ChannelForward(net::ByteStream& connection, ChannelDialect dialect,
                 const PortForwardTarget& target, std::vector<std::uint16_t> ports)
      : socket_(connection), dialect_(dialect), target_(target), ports_(std::move(ports)) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      input_.push_back(std::make_unique<net::ByteQueue>(kQueuedBytesMax));
    }
  }

  Task<void> run() {
    const TaskContext& context = co_await current_context();
    StopSource gone(context.stop);
    TaskGroup reading(*context.loop, context.stop);
    TaskGroup connections(*context.loop, gone.token());
    reading.spawn(read(gone));
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      connections.spawn(connect(i));
    }
    co_await connections.join();
    co_await socket_.close(net::kWebSocketNormal, {});
    co_await reading.close();
  }

 private:
  static constexpr std::size_t kQueuedBytesMax = 1u << 20;

  // The stream of one port's data channel.
  class Channel final : public net::ByteStream {
   public:
    Channel(ChannelForward& forward, std::size_t index) : forward_(forward), index_(index) {}
    Task<Result<std::string>> read() override { return forward_.input_[index_]->pop(); }
    Task<Result<void>> write(std::string bytes) override {
      return forward_.write(2 * index_, std::move(bytes));
    }

   private:
    ChannelForward& forward_;
    std::size_t index_;
  };

  Task<Result<void>> write(std::size_t channel, std::string bytes) {
    net::WebSocketMessage message =
        write_piece(dialect_, static_cast<std::uint8_t>(channel), bytes);
    co_return co_await socket_.write(message.opcode, std::move(message.payload));
  }

  Task<void> read(StopSource& gone) {
    for (;;) {
      const Result<std::optional<net::WebSocketMessage>> message = co_await socket_.read();
      if (!message || !*message) {
        break;
      }
      if ((*message)->payload.empty()) {
        continue;
      }
      Result<ChannelPiece> piece = read_piece(dialect_, **message);
      const std::size_t index = piece ? piece->channel / 2u : ports_.size();
      // Bytes on a channel for errors have no meaning.
      if (piece && piece->channel % 2 == 0 && index < ports_.size()) {
        static_cast<void>(co_await input_[index]->push(std::move(piece->bytes)));
      }
    }
    gone.request_stop();
  }

  Task<void> send_to_pod(net::ByteStream& channel, net::ByteStream& pod, std::size_t index) {
    co_await pass_on(channel, pod);
    input_[index]->abandon();
  }

  Task<void> connect(std::size_t index) {
    const TaskContext& context = co_await current_context();
    const std::uint16_t port = ports_[index];
    // Both channels begin with the port.
    const std::string hello{static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
    if (!co_await write(2 * index, hello) || !co_await write(2 * index + 1, hello)) {
      co_return;
    }
    Result<std::unique_ptr<net::ByteStream>> pod = co_await target_.pods.dial(target_.uid, port);
    if (!pod) {
      std::string text = problem(target_, std::to_string(port), pod.error());
      static_cast<void>(co_await write(2 * index + 1, std::move(text)));
      input_[index]->abandon();
      co_return;
    }
    Channel channel(*this, index);
    TaskGroup sending(*context.loop, context.stop);
    sending.spawn(send_to_pod(channel, **pod, index));
    co_await pass_on(**pod, channel);
    input_[index]->abandon();
    co_await sending.close();
  }

  net::WebSocketConnection socket_;
  ChannelDialect dialect_;
  const PortForwardTarget& target_;
  std::vector<std::uint16_t> ports_;
  std::vector<std::unique_ptr<net::ByteQueue>> input_;
};

}  // namespace

Task<void> forward_over_spdy(net::ByteStream& connection, PortForwardTarget target) {
  SpdyForward forward(connection, target);
  co_await forward.run();
}

Task<void> forward_over_tunnel(net::ByteStream& connection, PortForwardTarget target) {
  net::WebSocketConnection socket(connection);
  net::WebSocketTunnel tunnel(socket);
  SpdyForward forward(tunnel, target);
  co_await forward.run();
  co_await socket.close(net::kWebSocketNormal, {});
}

Task<void> forward_over_channels(net::ByteStream& connection, ChannelDialect dialect,
                                 PortForwardTarget target, std::vector<std::uint16_t> ports) {
  ChannelForward forward(connection, dialect, target, std::move(ports));
  co_await forward.run();
}

Result<std::vector<std::uint16_t>> parse_ports(const std::vector<std::string>& values) {
  std::vector<std::uint16_t> ports;
  for (std::string_view rest : values) {
    do {
      const std::size_t comma = rest.find(',');
      TRY_ASSIGN(const std::uint16_t port, parse_port(rest.substr(0, comma)));
      ports.push_back(port);
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    } while (!rest.empty());
  }
  if (ports.empty()) {
    return fail(invalid_argument("query parameter \"ports\" is required"));
  }
  // Two channels each, and a channel is one byte.
  if (ports.size() > 127) {
    return fail(too_large("more than 127 ports"));
  }
  return ports;
}

}  // namespace codeflare::node
