#pragma once

#include "base/async/loop.h"
#include "base/env/env.h"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace codeflare::internal {

// Threads are started when work would otherwise wait, up to a limit, and stay until the end. The
// destructor lets running work end and drops what has not begun.
class RealBlocking final : public Blocking {
 public:
  RealBlocking(Loop& loop, std::size_t threads_max);
  ~RealBlocking() override;
  void submit(Work work, Work done) override;

 private:
  struct Job {
    Work work;
    Work done;
  };
  void start_thread();
  void serve();

  Loop& loop_;
  const std::size_t threads_max_;
  std::vector<std::thread> threads_;  // touched by the loop's thread only
  std::mutex mutex_;
  // The rest is guarded by mutex_.
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace codeflare::internal
