#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace codeflare::net {

// Bytes on their way from one coroutine to another, with a bound: whoever adds waits while it is
// full, so that a slow reader slows the source down.
class ByteQueue {
 public:
  explicit ByteQueue(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Room for one byte is room for the piece. Nothing is kept once nobody reads.
  Task<Result<void>> push(std::string bytes) {
    while (!abandoned_ && bytes_.size() >= bytes_max_) {
      CO_TRY(co_await room_.wait());
    }
    if (!abandoned_ && !ended_) {
      bytes_.append(bytes);
      filled_.notify_all();
    }
    co_return Result<void>();
  }

  // All that is there, at least one byte; empty at the end.
  Task<Result<std::string>> pop() {
    while (bytes_.empty() && !ended_) {
      CO_TRY(co_await filled_.wait());
    }
    room_.notify_all();
    co_return std::exchange(bytes_, {});
  }

  // Nothing more comes.
  void end() {
    ended_ = true;
    filled_.notify_all();
  }
  // Nobody reads any more.
  void abandon() {
    abandoned_ = true;
    bytes_ = {};
    room_.notify_all();
  }

 private:
  std::size_t bytes_max_;
  std::string bytes_;
  bool ended_ = false;
  bool abandoned_ = false;
  WaitList filled_;
  WaitList room_;
};

}  // namespace codeflare::net
