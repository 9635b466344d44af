#include "node/agent/keeper_link.h"

#include "base/async/sleep.h"
#include "node/wire/message.h"

#include <utility>

namespace codeflare::node {

namespace {

// Keepers answer at once; one that does not is stuck in the kernel.
constexpr Duration kPatience = std::chrono::seconds(20);

}  // namespace

KeeperLink::KeeperLink(std::unique_ptr<net::LocalStream> stream, OnState on_state)
    : stream_(std::move(stream)), on_state_(std::move(on_state)) {}

Result<void> KeeperLink::take_frames() {
  for (;;) {
    TRY_ASSIGN(std::optional<std::string> text, frames_.next());
    if (!text) {
      return {};
    }
    TRY_ASSIGN(KeeperAnswer answer, parse_message<KeeperAnswer>(*text));
    on_state_(answer);
    if (!answer.event && !waiting_.empty()) {
      waiting_.front()->answer = std::move(answer);
      waiting_.pop_front();
      changed_.notify_all();
    }
  }
}

Task<void> KeeperLink::run() {
  for (;;) {
    Result<std::string> bytes = co_await with_stop(broken_.token(), stream_->read());
    if (!bytes || bytes->empty()) {
      break;
    }
    frames_.add(*bytes);
    if (!take_frames()) {
      break;
    }
  }
  open_ = false;
  for (const std::shared_ptr<Waiting>& one : waiting_) {
    one->lost = true;
  }
  waiting_.clear();
  changed_.notify_all();
}

Task<Result<void>> KeeperLink::answered(std::shared_ptr<Waiting> mine) {
  while (!mine->answer && !mine->lost) {
    CO_TRY(co_await changed_.wait());
  }
  co_return Result<void>();
}

Task<Result<void>> KeeperLink::call(KeeperRequest request) {
  while (writing_ && open_) {
    CO_TRY(co_await changed_.wait());
  }
  if (!open_) {
    co_return fail(unavailable("the keeper is gone"));
  }
  auto mine = std::make_shared<Waiting>();
  waiting_.push_back(mine);
  writing_ = true;
  // A frame that is cut off would spoil all that follow: it is written to its end.
  std::string bytes = framed(request);
  const Result<void> written =
      co_await with_timeout(kPatience, "a request to a keeper", stream_->write(std::move(bytes)));
  writing_ = false;
  changed_.notify_all();
  if (!written) {
    open_ = false;
    broken_.request_stop();
    co_return fail(unavailable("the keeper does not listen: " + written.error().message));
  }
  // Its place in the queue stays when the wait is given up: answers come in order.
  CO_TRY(co_await with_timeout(kPatience, "the answer of a keeper", answered(mine)));
  if (mine->lost) {
    co_return fail(unavailable("the keeper went away"));
  }
  if (!mine->answer->error.empty()) {
    co_return fail(failed_precondition(mine->answer->error));
  }
  co_return Result<void>();
}

}  // namespace codeflare::node
