#include "elastic/internal/worker_link.h"

#include <utility>

namespace codeflare::elastic::internal {

Task<Result<std::string>> WorkerLink::read_line() {
  while (true) {
    if (const auto end = text_.find('\n'); end != std::string::npos) {
      std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      co_return line;
    }
    if (text_.size() > kMessageBytesMax) {
      co_return fail(too_large("a worker sent a line of more than " +
                               std::to_string(kMessageBytesMax) + " bytes"));
    }
    CO_TRY_ASSIGN(const std::string piece, co_await stream_->read());
    if (piece.empty()) {
      co_return fail(unavailable("the worker has closed its connection"));
    }
    text_ += piece;
  }
}

Task<void> WorkerLink::write_lines() {
  while (true) {
    Result<std::string> line = co_await lines_.pop();
    if (!line) {
      co_return;
    }
    if (!co_await stream_->write(*std::move(line))) {
      co_return;
    }
  }
}

}  // namespace codeflare::elastic::internal
