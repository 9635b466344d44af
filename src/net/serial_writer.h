#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"
#include "net/byte_stream.h"

#include <string>
#include <utility>

namespace codeflare::net {

// Lets several coroutines write to one stream, each piece whole and one after the other. A piece
// that could not be written to its end spoils the stream for all.
class SerialWriter {
 public:
  explicit SerialWriter(ByteStream& stream) : stream_(stream) {}

  Task<Result<void>> write(std::string bytes) {
    while (busy_ && !broken_) {
      CO_TRY(co_await turn_.wait());
    }
    if (broken_) {
      co_return fail(unavailable("the connection is over"));
    }
    busy_ = true;
    const Result<void> written = co_await stream_.write(std::move(bytes));
    busy_ = false;
    broken_ = broken_ || !written;
    turn_.notify_all();
    co_return written;
  }

  // Nothing is written from now on.
  void close() {
    broken_ = true;
    turn_.notify_all();
  }
  bool usable() const { return !broken_; }

 private:
  ByteStream& stream_;
  bool busy_ = false;
  bool broken_ = false;
  WaitList turn_;
};

}  // namespace codeflare::net
