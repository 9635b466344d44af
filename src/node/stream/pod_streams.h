#pragma once

#include "base/async/task.h"
#include "base/result.h"
#include "net/byte_stream.h"
#include "net/descriptor_stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace codeflare::node {

using net::TerminalSize;

struct ExecOptions {
  std::string container{};
  std::vector<std::string> command{};
  bool input = false;
  bool terminal = false;
  TerminalSize size{};          // of the terminal; 0: not known
  bool kill_when_left = false;  // not only told that nobody is there any more
};

// A program that runs in a container, with its standard streams. Dropping it tells the program that
// nobody is there any more; a container's own program does not notice.
class StreamedProcess {
 public:
  virtual ~StreamedProcess() = default;
  // Null: there is none. With a terminal there is no error output.
  virtual net::ByteStream* input() = 0;
  virtual net::ByteStream* output() = 0;
  virtual net::ByteStream* error_output() = 0;
  virtual Result<void> resize(TerminalSize size) = 0;
  // The exit code, 128 + signal when it was killed by one. Its output may still be there to be
  // read, or never end: others may have it open.
  virtual Task<Result<int>> wait() = 0;
};

// Ways into the running pods of a node, named by UID. Errors are failed_precondition with the
// reason, not_found when there is no such program, `unavailable` when the pod or the container is
// missing.
class PodStreams {
 public:
  virtual ~PodStreams() = default;
  virtual Task<Result<std::unique_ptr<StreamedProcess>>> exec(std::string uid,
                                                              ExecOptions options) = 0;
  // The output of the container's own program from now on.
  virtual Task<Result<std::unique_ptr<StreamedProcess>>> attach(std::string uid,
                                                                std::string container) = 0;
  // A connection to a port of the pod's own loopback.
  virtual Task<Result<std::unique_ptr<net::ByteStream>>> dial(std::string uid,
                                                              std::uint16_t port) = 0;
};

}  // namespace codeflare::node
