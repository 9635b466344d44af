#include "base/env/internal/real_blocking.h"

#include "base/check.h"

#include <csignal>
#include <utility>

namespace codeflare::internal {

RealBlocking::RealBlocking(Loop& loop, std::size_t threads_max)
    : loop_(loop), threads_max_(threads_max) {
  CHECK(threads_max > 0);
}

RealBlocking::~RealBlocking() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void RealBlocking::submit(Work work, Work done) {
  bool grow = false;
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(work), std::move(done)});
    grow = jobs_.size() > idle_ && threads_.size() < threads_max_;
  }
  if (grow) {
    start_thread();
  }
  wake_.notify_one();
}

void RealBlocking::start_thread() {
  // Signals are the loop thread's business: the new thread inherits a full mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  threads_.emplace_back([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void RealBlocking::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    --idle_;
    if (stopping_) {
      return;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.work();
    // Gone before `done` runs: it may refer to the frame that waits.
    job.work = nullptr;
    loop_.post_from_any_thread(std::move(job.done));
    lock.lock();
  }
}

}  // namespace codeflare::internal
