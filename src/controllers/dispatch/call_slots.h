#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"

#include <cstdint>
#include <utility>

namespace codeflare::controllers::dispatch {

// A few calls to one worker at a time. A worker that falls silent delays these until their deadline
// and no others: reconcilers wait a second for a free slot once, and fail at once from then on
// until one of the calls has ended. Slots do not outlive it.
class CallSlots {
 public:
  // Gives itself back.
  class Slot {
   public:
    explicit Slot(CallSlots& slots) : slots_(&slots) {}
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot();

   private:
    CallSlots* slots_;
  };

  // `unavailable` when none is free.
  Task<Result<Slot>> take();

 private:
  Task<Result<void>> wait();

  int taken_ = 0;
  std::uint64_t returned_ = 0;  // ever
  bool stuck_ = false;          // somebody waited in vain
  WaitList given_back_;
};

}  // namespace codeflare::controllers::dispatch
