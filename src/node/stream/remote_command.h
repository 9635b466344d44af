#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "model/status.h"
#include "node/stream/pod_streams.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace codeflare::node {

// Which streams a client of exec or attach wants.
struct CommandStreams {
  bool input = false;
  bool output = false;
  bool error_output = false;
  bool terminal = false;
};

// The client of a command, whatever it speaks. run() has to be running for anything to come.
class CommandClient {
 public:
  virtual ~CommandClient() = default;

  // Reads what comes until the client is done or gone.
  virtual Task<void> run() = 0;
  // When all streams are there; fails when the client does not open them.
  virtual Task<Result<void>> ready() = 0;
  // The client's input for the program; empty at the end.
  virtual Task<Result<std::string>> read_input() = 0;
  // Its terminal when it changes; nothing when it will not any more.
  virtual Task<Result<std::optional<TerminalSize>>> next_size() = 0;
  virtual Task<Result<void>> write_output(std::string bytes) = 0;
  virtual Task<Result<void>> write_error_output(std::string bytes) = 0;
  // How it ended, and goodbye.
  virtual Task<void> finish(model::Status status) = 0;
};

using StartProcess = std::function<Task<Result<std::unique_ptr<StreamedProcess>>>()>;

// Carries bytes between a client and a program until the program ends or the client goes. `what`
// stands before the reason when the program cannot be started: "error executing command in
// container". With `attached` the exit code is not the client's business.
struct CommandRun {
  StartProcess start;
  CommandStreams streams;
  std::string what;
  bool attached = false;
};
Task<void> serve_command(CommandClient& client, CommandRun run);

// The end of a program, as clients get it.
model::Status exit_status(int exit_code);
model::Status failure_status(std::string_view what, const Error& error);
// {"Width":80,"Height":24}; nothing when it is something else.
std::optional<TerminalSize> parse_terminal_size(std::string_view json);

}  // namespace codeflare::node
