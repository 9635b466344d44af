#include "controllers/dispatch/call_slots.h"

#include "base/async/sleep.h"

#include <chrono>
#include <string>

namespace codeflare::controllers::dispatch {

namespace {

// A quarter of the reconcilers of AppWrappers; three calls in turn make a copy, so these are plenty
// for a worker that answers.
constexpr int kSlots = 8;
constexpr Duration kWaitMax = std::chrono::seconds(1);

}  // namespace

CallSlots::Slot::~Slot() {
  if (slots_ != nullptr) {
    --slots_->taken_;
    slots_->stuck_ = false;
    ++slots_->returned_;
    slots_->given_back_.notify_all();
  }
}

Task<Result<void>> CallSlots::wait() {
  while (taken_ == kSlots && !stuck_) {
    CO_TRY(co_await given_back_.wait());
  }
  co_return Result<void>();
}

Task<Result<CallSlots::Slot>> CallSlots::take() {
  const std::uint64_t returned = returned_;
  if (taken_ == kSlots && !stuck_) {
    auto waiting = wait();
    const Result<void> waited = co_await with_timeout(kWaitMax, "free slot", std::move(waiting));
    if (!waited && waited.error().code != ErrorCode::deadline_exceeded) {
      co_return fail(waited.error());
    }
  }
  if (taken_ == kSlots && returned_ != returned) {
    co_return fail(unavailable("all " + std::to_string(kSlots) + " calls are in use"));
  }
  if (taken_ == kSlots) {
    stuck_ = true;
    co_return fail(unavailable("none of " + std::to_string(kSlots) + " calls was answered so far"));
  }
  ++taken_;
  co_return Slot(*this);
}

}  // namespace codeflare::controllers::dispatch
