#include "controllers/job/job_waker.h"

#include "base/async/sleep.h"

namespace codeflare::controllers::job {

namespace {

constexpr std::size_t kSmall = 64;
constexpr Duration kMoment = std::chrono::milliseconds(100);

}  // namespace

JobWaker::~JobWaker() {
  for (const auto& [job, timer] : due_) {
    loop_.cancel_timer(timer);
  }
}

void JobWaker::pod_changed(const model::ObjectKey& job, std::size_t pods) {
  if (pods <= kSmall) {
    wake_(job);
    return;
  }
  if (due_.contains(job)) {
    return;
  }
  due_.emplace(job, loop_.start_timer(after(loop_.now(), kMoment), [this, job] {
    due_.erase(job);
    wake_(job);
  }));
}

}  // namespace codeflare::controllers::job
