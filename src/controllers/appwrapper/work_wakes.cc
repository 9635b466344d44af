#include "controllers/appwrapper/work_wakes.h"

#include "base/async/sleep.h"

#include <chrono>
#include <utility>

namespace codeflare::controllers {

namespace {

// Pods of a gang come and go by the thousand; their counts are looked at this often.
constexpr Duration kPodsPause = std::chrono::milliseconds(250);

}  // namespace

void WorkWakes::set_waker(model::WrapperApi api, runtime::Waker waker) {
  wakers_[api] = std::move(waker);
}

void WorkWakes::set_training_waker(runtime::Waker waker) {
  training_ = std::move(waker);
}

void WorkWakes::learn(queue::WorkId id) {
  const std::string uid = id.uid;
  if (!id.wrapper.empty()) {
    wrapped_[id.wrapper].insert_or_assign(uid, id.key);
  }
  known_[uid] = std::move(id);
}

void WorkWakes::forget(const std::string& uid) {
  auto known = known_.find(uid);
  if (known != known_.end()) {
    wake(known->second);
    if (const auto tied = wrapped_.find(known->second.wrapper); tied != wrapped_.end()) {
      tied->second.erase(uid);
      if (tied->second.empty()) {
        wrapped_.erase(tied);
      }
    }
    known_.erase(known);
  }
}

std::vector<queue::WorkId> WorkWakes::ids() const {
  std::vector<queue::WorkId> result;
  for (const auto& [uid, id] : known_) {
    result.push_back(id);
  }
  return result;
}

void WorkWakes::wake(const std::string& uid) {
  auto known = known_.find(uid);
  if (known != known_.end()) {
    wake(known->second);
  }
}

void WorkWakes::wake(const queue::WorkId& id) {
  (id.kind == queue::WorkKind::training_job ? training_ : wakers_[id.api]).wake(id.key);
  if (const auto tied = wrapped_.find(id.uid); tied != wrapped_.end()) {
    for (const auto& [uid, job] : tied->second) {
      training_.wake(job);
    }
  }
}

void WorkWakes::wake(const std::vector<WrapperPods::News>& news) {
  for (const WrapperPods::News& each : news) {
    if (each.matters) {
      wake(each.owner);
    } else {
      late_.insert(each.owner);
    }
  }
  if (!late_.empty() && !late_timer_) {
    late_timer_ = loop_.start_timer(after(loop_.now(), kPodsPause), [this] {
      late_timer_.reset();
      wake_late();
    });
  }
}

void WorkWakes::wake_late() {
  for (const PodOwner& owner : std::exchange(late_, {})) {
    wake(owner);
  }
}

void WorkWakes::wake(const PodOwner& owner) {
  if (!owner.uid.empty()) {
    wake(owner.uid);
    return;
  }
  for (const auto& [api, waker] : wakers_) {
    waker.wake(owner.key);
  }
}

void WorkWakes::cancel() {
  if (late_timer_) {
    loop_.cancel_timer(*late_timer_);
    late_timer_.reset();
  }
}

std::size_t WorkWakes::unfinished() const {
  std::size_t sum = training_.unfinished();
  for (const auto& [api, waker] : wakers_) {
    sum += waker.unfinished();
  }
  return sum;
}

}  // namespace codeflare::controllers
