#pragma once

#include "base/async/channel.h"
#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "elastic/messages.h"
#include "net/byte_stream.h"

#include <memory>
#include <string>
#include <string_view>

namespace codeflare::elastic::internal {

// One connection of a worker: lines in, lines out.
class WorkerLink {
 public:
  explicit WorkerLink(std::unique_ptr<net::ByteStream> stream) : stream_(std::move(stream)) {}

  // The next line without its end; `unavailable` when the worker has closed.
  Task<Result<std::string>> read_line();
  // False when the worker reads nothing any more.
  bool send(std::string line) { return lines_.try_push(std::move(line)); }
  // Writes what is sent, until closed.
  Task<void> write_lines();
  void close() { lines_.close(); }

  std::int32_t local_rank = -1;  // -1: no hello yet
  bool ended = false;
  WaitList on_end;  // notified when `ended` is set

 private:
  std::unique_ptr<net::ByteStream> stream_;
  std::string text_;
  Channel<std::string> lines_{256};
};

}  // namespace codeflare::elastic::internal
