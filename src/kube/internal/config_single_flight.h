#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace codeflare::kube::internal {

// At most one run of some work at a time: who comes meanwhile waits for it and shares its outcome.
// A run that was cancelled along with its caller counts for nobody else: the next in line runs.
class SingleFlight {
 public:
  // `work` must stay callable until the task is done.
  Task<Result<void>> run(std::move_only_function<Task<Result<void>>()> work) {
    while (running_) {
      std::uint64_t seen = finished_;
      CO_TRY(co_await done_.wait());
      if (finished_ != seen && (outcome_ || outcome_.error().code != ErrorCode::cancelled)) {
        co_return outcome_;
      }
    }
    running_ = true;
    Result<void> outcome = co_await work();
    running_ = false;
    ++finished_;
    outcome_ = outcome;
    done_.notify_all();
    co_return outcome;
  }

 private:
  bool running_ = false;
  std::uint64_t finished_ = 0;
  Result<void> outcome_;
  WaitList done_;
};

}  // namespace codeflare::kube::internal
