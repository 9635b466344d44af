#include "net/body_idle.h"

#include "base/async/sleep.h"

#include <memory>
#include <optional>
#include <utility>

namespace codeflare::net {

namespace {

class IdleLimitedBody final : public BodyStream {
 public:
  IdleLimitedBody(Body inner, Duration limit) : inner_(std::move(inner)), limit_(limit) {}

  Task<Result<Bytes>> read() override {
    if (broken_) {
      co_return fail(*broken_);
    }
    // A piece that is ready needs no timer.
    if (std::optional<Bytes> piece = inner_->ready()) {
      co_return *std::move(piece);
    }
    Result<Bytes> piece = co_await with_timeout(limit_, "response body", inner_->read());
    if (!piece && piece.error().code == ErrorCode::deadline_exceeded) {
      inner_.reset();
      broken_ = unavailable("response body: nothing came for " + to_text(limit_));
      co_return fail(*broken_);
    }
    co_return piece;
  }

  std::optional<Bytes> ready() override { return broken_ ? std::nullopt : inner_->ready(); }

 private:
  Body inner_;
  Duration limit_;
  std::optional<Error> broken_;
};

}  // namespace

Body limit_idle(Body body, Duration limit) {
  return body == nullptr ? nullptr : std::make_unique<IdleLimitedBody>(std::move(body), limit);
}

}  // namespace codeflare::net
