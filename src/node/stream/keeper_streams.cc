#include "node/stream/keeper_streams.h"

#include "base/async/sleep.h"
#include "node/wire/message.h"

#include <csignal>
#include <optional>
#include <utility>

namespace codeflare::node {

namespace {

// To start a program may mean to read it from a slow disk.
constexpr Duration kPatience = std::chrono::seconds(30);
// The exit code of a program whose container is killed around it.
constexpr int kKilled = 137;

}  // namespace

// A connection to a keeper, and what its first answer brought.
struct KeeperStreams::Call {
  std::unique_ptr<net::DescriptorChannel> channel;
  FrameReader frames{};
  std::vector<FileDescriptor> descriptors{};
  StreamAnswer answer{};

  // The next frame that is meant for us.
  Task<Result<StreamAnswer>> next() {
    for (;;) {
      CO_TRY_ASSIGN(const std::optional<std::string> text, frames.next());
      if (text) {
        CO_TRY_ASSIGN(StreamAnswer found, parse_message<StreamAnswer>(*text));
        if (!found.event) {
          co_return found;
        }
        continue;
      }
      CO_TRY_ASSIGN(net::DescriptorChannel::Piece piece, co_await channel->read());
      for (FileDescriptor& one : piece.descriptors) {
        descriptors.push_back(std::move(one));
      }
      if (piece.bytes.empty()) {
        co_return fail(unavailable("the container has ended"));
      }
      frames.add(piece.bytes);
    }
  }
};

class KeeperStreams::Process final : public StreamedProcess {
 public:
  Process(Loop& loop, Call call) : call_(std::move(call)) {
    const std::vector<std::string>& names = call_.answer.descriptors;
    for (std::size_t i = 0; i < names.size() && i < call_.descriptors.size(); ++i) {
      auto stream = net::make_descriptor_stream(loop, std::move(call_.descriptors[i]));
      if (names[i] == "input") {
        input_ = std::move(stream);
      } else if (names[i] == "output") {
        output_ = std::move(stream);
      } else if (names[i] == "error") {
        error_output_ = std::move(stream);
      } else if (names[i] == "terminal") {
        terminal_ = std::move(stream);
      }
    }
    call_.descriptors.clear();
  }

  net::ByteStream* input() override { return terminal_ ? terminal_.get() : input_.get(); }
  // Of a container that is looked at, a terminal is there to be written to only: its keeper reads.
  net::ByteStream* output() override { return output_ ? output_.get() : terminal_.get(); }
  net::ByteStream* error_output() override { return error_output_.get(); }

  Result<void> resize(TerminalSize size) override {
    return terminal_ ? terminal_->set_terminal_size(size) : Result<void>();
  }

  Task<Result<int>> wait() override {
    for (;;) {
      Result<StreamAnswer> answer = co_await call_.next();
      if (!answer && answer.error().code == ErrorCode::unavailable) {
        co_return kKilled;  // with its container
      }
      if (!answer) {
        co_return fail(std::move(answer).error());
      }
      if (answer->ended) {
        co_return answer->exit_code;
      }
    }
  }

 private:
  Call call_;
  std::unique_ptr<net::DescriptorStream> input_;
  std::unique_ptr<net::DescriptorStream> output_;
  std::unique_ptr<net::DescriptorStream> error_output_;
  std::unique_ptr<net::DescriptorStream> terminal_;
};

Task<Result<KeeperStreams::Call>> KeeperStreams::ask(std::string uid, StreamRequest request) {
  CO_TRY_ASSIGN(std::unique_ptr<net::DescriptorChannel> channel,
                net::connect_descriptors(loop_, socket_of_(uid)));
  std::string bytes = framed(request);
  if (bytes.size() > kStreamRequestBytesMax) {
    co_return fail(too_large("the command is too long"));
  }
  CO_TRY(co_await channel->write(std::move(bytes)));
  Call call{.channel = std::move(channel)};
  CO_TRY_ASSIGN(call.answer,
                co_await with_timeout(kPatience, "the answer of a keeper", call.next()));
  if (!call.answer.error.empty()) {
    std::string why = std::move(call.answer.error);
    if (call.answer.ended) {
      co_return fail(unavailable(std::move(why)));
    }
    co_return fail(call.answer.missing ? not_found(std::move(why))
                                       : failed_precondition(std::move(why)));
  }
  if (call.descriptors.size() != call.answer.descriptors.size()) {
    co_return fail(internal_error("a keeper passed other descriptors than it said"));
  }
  co_return call;
}

Task<Result<std::unique_ptr<StreamedProcess>>> KeeperStreams::start(std::string uid,
                                                                    StreamRequest request) {
  CO_TRY_ASSIGN(Call call, co_await ask(std::move(uid), std::move(request)));
  co_return std::make_unique<Process>(loop_, std::move(call));
}

Task<Result<std::unique_ptr<StreamedProcess>>> KeeperStreams::exec(std::string uid,
                                                                   ExecOptions options) {
  StreamRequest request{.verb = "exec",
                        .name = std::move(options.container),
                        .command = std::move(options.command),
                        .input = options.input,
                        .terminal = options.terminal,
                        .columns = options.size.columns,
                        .rows = options.size.rows,
                        .hangup_signal = options.kill_when_left ? SIGKILL : 0};
  return start(std::move(uid), std::move(request));
}

Task<Result<std::unique_ptr<StreamedProcess>>> KeeperStreams::attach(std::string uid,
                                                                     std::string container) {
  StreamRequest request{.verb = "attach", .name = std::move(container)};
  return start(std::move(uid), std::move(request));
}

Task<Result<std::unique_ptr<net::ByteStream>>> KeeperStreams::dial_at(std::string uid,
                                                                      std::string address,
                                                                      std::uint16_t port) {
  StreamRequest request{.verb = "dial", .address = std::move(address), .port = port};
  CO_TRY_ASSIGN(Call call, co_await ask(std::move(uid), std::move(request)));
  if (call.descriptors.size() != 1) {
    co_return fail(internal_error("a keeper passed no socket"));
  }
  auto socket = net::make_descriptor_stream(loop_, std::move(call.descriptors.front()));
  CO_TRY(co_await with_timeout(kPatience, "a connection", socket->connected()));
  co_return socket;
}

Task<Result<std::unique_ptr<net::ByteStream>>> KeeperStreams::dial(std::string uid,
                                                                   std::uint16_t port) {
  Result<std::unique_ptr<net::ByteStream>> v4 = co_await dial_at(uid, "127.0.0.1", port);
  if (v4) {
    co_return v4;
  }
  Result<std::unique_ptr<net::ByteStream>> v6 = co_await dial_at(std::move(uid), "::1", port);
  if (v6) {
    co_return v6;
  }
  co_return fail(std::move(v4).error());
}

}  // namespace codeflare::node
