#pragma once

#include "base/async/task.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace codeflare {

struct ChildCommand {
  std::string program;  // looked up on PATH when it has no slash
  std::vector<std::string> arguments{};
  // Added to (or, with an empty optional, removed from) the inherited environment.
  std::map<std::string, std::optional<std::string>> variables{};
  std::string working_directory{};  // empty: inherited
};

// How a process ended: by itself with a code, or by a signal.
struct ChildExit {
  int code = 0;
  int signal = 0;  // 0: it ended by itself

  bool success() const { return code == 0 && signal == 0; }
  // As shells count: 128 + signal when killed by one.
  int shell_code() const { return signal == 0 ? code : 128 + signal; }
  friend bool operator==(const ChildExit&, const ChildExit&) = default;
};

// A process that runs beside us, in a process group of its own, with an empty standard input. It is
// killed when we die, and what is left of its group is killed when it ends. A Child that is dropped
// before its end is killed.
class Child {
 public:
  virtual ~Child() = default;

  virtual std::int64_t pid() const = 0;

  enum class Stream : std::uint8_t { output, error_output };
  // The next piece of what it writes; empty at the end. After the process has ended, the end is
  // where it stopped writing, whoever still holds the pipe. One reader per stream.
  virtual Task<Result<std::string>> read(Stream stream) = 0;

  // Waits for its end; fails when cancelled. Several may wait.
  virtual Task<Result<ChildExit>> wait() = 0;

  // To its whole group; nothing once it has ended.
  virtual void signal(int number) = 0;
};

// Starts processes that are talked to while they run; Launcher is for programs that are run to
// their end. real_children.h and sim_children.h have one each.
class Children {
 public:
  virtual ~Children() = default;
  // Fails with not_found when the program does not exist.
  virtual Result<std::unique_ptr<Child>> start(ChildCommand command) = 0;
};

}  // namespace codeflare
