#include "node/stream/remote_command.h"

#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "json/parse.h"

#include <utility>

namespace codeflare::node {

namespace {

// A program that left others behind which have its output open is over when those say nothing for
// this long.
constexpr Duration kQuietAfterEnd = std::chrono::milliseconds(300);

// One program and its client. Lives until none of its tasks runs.
class CommandSession {
 public:
  CommandSession(CommandClient& client, StreamedProcess& process, const CommandStreams& streams,
                 StopSource& gone, const TaskContext& context)
      : client_(client),
        process_(process),
        streams_(streams),
        gone_(gone),
        context_(context),
        ended_(context.stop),
        while_running_{context.loop, ended_.token()} {}

  // The exit code; an error when the client went first.
  Task<Result<int>> run() {
    TaskGroup feeding(*context_.loop, context_.stop);
    TaskGroup showing(*context_.loop, context_.stop);
    if (streams_.input) {
      feeding.spawn(pass_input(process_.input()));
    }
    if (streams_.terminal) {
      feeding.spawn(pass_sizes());
    }
    if (process_.output() != nullptr) {
      showing.spawn(pass_output(*process_.output(), false));
    }
    if (process_.error_output() != nullptr) {
      showing.spawn(pass_output(*process_.error_output(), true));
    }
    showing.spawn(wait_for_end());
    co_await showing.join();
    co_await feeding.close();
    co_return end_.value_or(fail(cancelled()));
  }

 private:
  // A program that takes no input, or no more of it, must not stop us from listening to the client.
  Task<void> pass_input(net::ByteStream* to) {
    bool wanted = to != nullptr;
    for (;;) {
      Result<std::string> bytes = co_await client_.read_input();
      if (!bytes || bytes->empty()) {
        break;
      }
      if (wanted) {
        wanted = (co_await to->write(*std::move(bytes))).has_value();
      }
    }
    if (to != nullptr) {
      static_cast<void>(co_await to->finish());
    }
  }

  Task<void> pass_sizes() {
    for (;;) {
      const Result<std::optional<TerminalSize>> size = co_await client_.next_size();
      if (!size || !*size) {
        co_return;
      }
      static_cast<void>(process_.resize(**size));
    }
  }

  Task<Result<std::string>> read_from(net::ByteStream& from) {
    if (!ended_.stop_requested()) {
      Result<std::string> bytes = co_await from.read().under(while_running_);
      if (bytes || !ended_.stop_requested() || context_.stop.stop_requested()) {
        co_return bytes;
      }
    }
    co_return co_await with_timeout(kQuietAfterEnd, "more output", from.read());
  }

  Task<void> pass_output(net::ByteStream& from, bool is_error) {
    const bool wanted = is_error ? streams_.error_output : streams_.output;
    for (;;) {
      Result<std::string> bytes = co_await read_from(from);
      if (!bytes || bytes->empty()) {
        co_return;
      }
      if (!wanted) {
        continue;
      }
      const Result<void> written = is_error ? co_await client_.write_error_output(*std::move(bytes))
                                            : co_await client_.write_output(*std::move(bytes));
      if (!written) {
        gone_.request_stop();
        co_return;
      }
    }
  }

  Task<void> wait_for_end() {
    Result<int> end = co_await process_.wait();
    if (end || end.error().code != ErrorCode::cancelled) {
      end_.emplace(std::move(end));
    }
    ended_.request_stop();
  }

  CommandClient& client_;
  StreamedProcess& process_;
  CommandStreams streams_;
  StopSource& gone_;
  const TaskContext& context_;
  StopSource ended_;  // stops when the program has ended
  TaskContext while_running_;
  std::optional<Result<int>> end_;
};

Task<void> listen_to(CommandClient& client, StopSource& gone) {
  co_await client.run();
  gone.request_stop();
}

Task<void> run_process(CommandClient& client, CommandRun run, StopSource& gone) {
  const TaskContext& context = co_await current_context();
  if (const Result<void> ready = co_await client.ready(); !ready) {
    co_await client.finish(failure_status(run.what, ready.error()));
    co_return;
  }
  Result<std::unique_ptr<StreamedProcess>> process = co_await run.start();
  if (!process) {
    co_await client.finish(failure_status(run.what, process.error()));
    co_return;
  }
  CommandSession session(client, **process, run.streams, gone, context);
  const Result<int> end = co_await session.run();
  if (end) {
    co_await client.finish(exit_status(run.attached ? 0 : *end));
  } else {
    co_await client.finish(failure_status(run.what, end.error()));
  }
}

}  // namespace

Task<void> serve_command(CommandClient& client, CommandRun run) {
  const TaskContext& outer = co_await current_context();
  StopSource gone(outer.stop);
  TaskContext inner{outer.loop, gone.token()};
  // Not under `gone`: it is what says so.
  TaskGroup listening(*outer.loop, outer.stop);
  listening.spawn(listen_to(client, gone));
  co_await run_process(client, std::move(run), gone).under(inner);
  co_await listening.close();
}

model::Status exit_status(int exit_code) {
  model::Status status;
  if (exit_code == 0) {
    status.status = "Success";
    return status;
  }
  const std::string code = std::to_string(exit_code);
  status.status = "Failure";
  status.reason = "NonZeroExitCode";
  status.message = "command terminated with non-zero exit code: exit status " + code;
  status.details.emplace();
  status.details->causes.push_back({.reason = "ExitCode", .message = code});
  return status;
}

model::Status failure_status(std::string_view what, const Error& error) {
  const std::string reason = std::string(what) + ": " + error.message;
  model::Status status;
  status.status = "Failure";
  status.reason = "InternalError";
  status.message = "Internal error occurred: " + reason;
  status.code = 500;
  status.details.emplace();
  status.details->causes.push_back({.message = reason});
  return status;
}

std::optional<TerminalSize> parse_terminal_size(std::string_view json) {
  const Result<json::Document> document = json::parse(json, {.max_depth = 4, .max_bytes = 1024});
  if (!document || !document->root.is_object()) {
    return std::nullopt;
  }
  const auto number = [&](std::string_view name) -> std::optional<std::uint16_t> {
    const json::Value* value = document->root.find(name);
    const std::optional<std::int64_t> read =
        value == nullptr || !value->is_number() ? std::nullopt : value->to_int64();
    if (!read || *read < 0 || *read > 0xffff) {
      return std::nullopt;
    }
    return static_cast<std::uint16_t>(*read);
  };
  const std::optional<std::uint16_t> columns = number("Width");
  const std::optional<std::uint16_t> rows = number("Height");
  if (!columns || !rows) {
    return std::nullopt;
  }
  return TerminalSize{.columns = *columns, .rows = *rows};
}

}  // namespace codeflare::node
