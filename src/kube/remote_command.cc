#include "kube/remote_command.h"

#include "base/async/task_group.h"
#include "json/parse.h"
#include "kube/internal/pod_socket.h"
#include "kube/path.h"
#include "model/codec/meta.h"
#include "model/status.h"
#include "net/upgrade.h"
#include "net/websocket_alive.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace codeflare::kube {

namespace {

constexpr std::uint8_t kInput = 0;
constexpr std::uint8_t kOutput = 1;
constexpr std::uint8_t kErrorOutput = 2;
constexpr std::uint8_t kEnd = 3;
constexpr std::uint8_t kSize = 4;
constexpr std::uint8_t kCloseChannel = 255;

Result<std::string> target_of(const RemoteCommand& command, const CommandStreams& streams) {
  const bool attach = command.command.empty();
  TRY_ASSIGN(std::string path, internal::pod_path(command.pod, attach ? "attach" : "exec"));
  Query query;
  query.add_if_set("container", command.container);
  for (const std::string& word : command.command) {
    query.add("command", word);
  }
  query.add_if("stdin", streams.input != nullptr)
      .add_if("stdout", streams.output != nullptr)
      .add_if("stderr", streams.error_output != nullptr && !command.terminal)
      .add_if("tty", command.terminal);
  return query.on(std::move(path));
}

// The exit code that a Status reports, or its error.
Result<int> exit_code_of(std::string_view text) {
  TRY_ASSIGN(const json::Document document, json::parse(text));
  TRY_ASSIGN(model::Status status, model::from_json<model::Status>(document.root));
  if (status.status == "Success") {
    return 0;
  }
  Error error = model::to_error(std::move(status));
  if (const model::StatusCause* cause = model::find_cause(error, "ExitCode")) {
    int code = 0;
    const char* end = cause->message.data() + cause->message.size();
    if (std::from_chars(cause->message.data(), end, code).ptr == end) {
      return code;
    }
  }
  return fail(std::move(error));
}

// One command over an open WebSocket.
class CommandSession {
 public:
  CommandSession(net::ByteStream& connection, Env env, CommandStreams streams, bool can_close)
      : socket_(connection, env.random), streams_(streams), can_close_(can_close) {}

  Task<Result<int>> run() {
    const TaskContext& context = co_await current_context();
    TaskGroup sending(*context.loop, context.stop);
    // The size goes first: the input may start a program that looks at it.
    if (streams_.sizes != nullptr) {
      sending.spawn(send_sizes());
    }
    if (streams_.input != nullptr) {
      sending.spawn(send_input());
    }
    Result<int> ended = co_await receive();
    co_await sending.close();
    co_await socket_.close(net::kWebSocketNormal, {});
    co_return ended;
  }

 private:
  Task<void> send_input() {
    for (;;) {
      const Result<std::string> bytes = co_await streams_.input->read();
      if (!bytes || bytes->empty()) {
        break;
      }
      if (!co_await internal::write_channel(socket_, kInput, *bytes)) {
        co_return;
      }
    }
    if (can_close_) {
      static_cast<void>(
          co_await internal::write_channel(socket_, kCloseChannel, std::string(1, kInput)));
    }
  }

  Task<void> send_sizes() {
    for (;;) {
      const Result<net::TerminalSize> size = co_await streams_.sizes->pop();
      if (!size) {
        co_return;
      }
      const std::string text = "{\"Width\":" + std::to_string(size->columns) +
                               ",\"Height\":" + std::to_string(size->rows) + "}";
      if (!co_await internal::write_channel(socket_, kSize, text)) {
        co_return;
      }
    }
  }

  // Until the server reports the end of the program.
  Task<Result<int>> receive() {
    for (;;) {
      CO_TRY_ASSIGN(const std::optional<net::WebSocketMessage> message,
                    co_await net::read_while_alive(socket_, internal::kPodSocketQuiet));
      if (!message) {
        co_return fail(unavailable("the connection closed before the program ended"));
      }
      if (message->payload.size() < 2) {
        continue;  // an empty piece says that a channel is open
      }
      const auto channel = static_cast<std::uint8_t>(message->payload[0]);
      std::string bytes = message->payload.substr(1);
      if (channel == kEnd) {
        co_return exit_code_of(bytes);
      }
      net::ByteStream* const to = channel == kOutput        ? streams_.output
                                  : channel == kErrorOutput ? streams_.error_output
                                                            : nullptr;
      if (to != nullptr) {
        CO_TRY(co_await to->write(std::move(bytes)));
      }
    }
  }

  net::WebSocketConnection socket_;
  CommandStreams streams_;
  bool can_close_;
};

struct Conversation {
  Env env;
  CommandStreams streams;
  bool can_close = false;
  Result<int> outcome = fail(unavailable("the connection closed before the program ended"));
};

Task<void> talk(net::ByteStream& connection, Conversation& about) {
  CommandSession session(connection, about.env, about.streams, about.can_close);
  about.outcome = co_await session.run();
}

}  // namespace

Task<Result<int>> run_command(Env env, net::HttpService& service, RemoteCommand command,
                              CommandStreams streams) {
  CO_TRY_ASSIGN(std::string target, target_of(command, streams));
  std::vector<std::string> protocols{internal::kChannelsV5, internal::kChannelsV4};
  CO_TRY_ASSIGN(
      net::WebSocketAnswer answer,
      co_await internal::open_pod_socket(env, service, std::move(target), std::move(protocols)));
  Conversation about{
      .env = env, .streams = streams, .can_close = answer.protocol == internal::kChannelsV5};
  CO_TRY(co_await net::converse(std::move(answer.response), [&about](net::ByteStream& connection) {
    return talk(connection, about);
  }));
  co_return std::move(about.outcome);
}

}  // namespace codeflare::kube
