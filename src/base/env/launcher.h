#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace codeflare {

struct Command {
  std::string program;  // looked up on PATH when it has no slash
  std::vector<std::string> arguments{};
  // Added to (or, with an empty optional, removed from) the inherited environment.
  std::map<std::string, std::optional<std::string>> variables{};
  std::string working_directory{};  // empty: inherited
  std::string input{};              // written to standard input, which is then closed
  bool inherit_stdin = false;       // a terminal for programs that ask questions; `input` is unused
  bool inherit_stderr = false;      // otherwise captured
  std::size_t output_bytes_max = 16u << 20;
};

struct CommandResult {
  int exit_code = 0;  // 128 + signal when killed by one
  std::string output{};
  std::string error_output{};
};

// Starts processes. run() waits without blocking the loop until the program has ended (children it
// leaves behind are not waited for). When the task is cancelled the program's process group is
// killed and the result is `cancelled`. With inherit_stdin it stays in our own group, where the
// terminal lets it read, and is killed alone.
class Launcher {
 public:
  virtual ~Launcher() = default;
  // Fails with not_found when the program does not exist and too_large when output exceeds the
  // limit (the program is then killed). A program that ends with an error is a result.
  virtual Task<Result<CommandResult>> run(Command command) = 0;
};

}  // namespace codeflare
