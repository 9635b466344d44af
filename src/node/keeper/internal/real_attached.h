#pragma once

#include "base/posix.h"
#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace codeflare::node::internal {

// Viewers of a container's output, from when they came. The container never waits for them: what
// does not fit into the pipe of one who does not read is lost to it.
class Attached {
 public:
  // Gives the other ends of new pipes to the connection, and takes the connection when that works.
  // Ways to the program's input go along: a pipe or a terminal, -1 where there is none.
  struct Input {
    int pipe = -1;
    int terminal = -1;
  };
  Result<void> add(FileDescriptor& connection, const Input& input);
  void show(std::string_view bytes, bool is_error);
  // The program has ended: they get the exit code and are closed.
  void end(std::int32_t exit_code);

 private:
  struct One {
    FileDescriptor connection;
    FileDescriptor output;
    FileDescriptor error_output;
  };
  void forget_gone();

  std::vector<One> all_;
};

// A socket that is being connected to an address of the pod: does not wait for it.
Result<FileDescriptor> begin_to_connect(const std::string& address, std::int32_t port);

}  // namespace codeflare::node::internal
