#pragma once

#include "base/async/task.h"
#include "base/async/wait_list.h"
#include "base/result.h"

#include <utility>

namespace codeflare::checkpoint::internal {

// One task at a time changes a job; others wait. Outlives its guards.
class JobLock {
 public:
  class Guard {
   public:
    explicit Guard(JobLock* lock) : lock_(lock) {}
    Guard(Guard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)) {}
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (lock_ != nullptr) {
        lock_->taken_ = false;
        lock_->freed_.notify_all();
      }
    }

   private:
    JobLock* lock_;
  };

  Task<Result<Guard>> take() {
    while (taken_) {
      CO_TRY(co_await freed_.wait());
    }
    taken_ = true;
    co_return Guard(this);
  }

 private:
  bool taken_ = false;
  WaitList freed_;
};

}  // namespace codeflare::checkpoint::internal
