#pragma once

#include "base/async/loop.h"
#include "base/text_map.h"
#include "controllers/appwrapper/wrapper_pods.h"
#include "model/app_wrapper.h"
#include "model/gvk.h"
#include "queue/queue.h"
#include "runtime/manager.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace codeflare::controllers {

// Wakes the reconcilers of what is in the queue, by UID. Pods whose change decides nothing wake
// theirs together, a moment later.
class WorkWakes {
 public:
  explicit WorkWakes(Loop& loop) : loop_(loop) {}
  WorkWakes(const WorkWakes&) = delete;
  WorkWakes& operator=(const WorkWakes&) = delete;
  ~WorkWakes() { cancel(); }

  // The reconciler of one kind; before the first wake.
  void set_waker(model::WrapperApi api, runtime::Waker waker);
  void set_training_waker(runtime::Waker waker);

  // A TrainingJob inside an AppWrapper is woken with it.
  void learn(queue::WorkId id);
  // Its reconciler is woken a last time.
  void forget(const std::string& uid);
  bool knows(const std::string& uid) const { return known_.contains(uid); }
  std::size_t known() const { return known_.size(); }
  std::vector<queue::WorkId> ids() const;

  // Nothing happens when the UID is not known.
  void wake(const std::string& uid);
  void wake(const queue::WorkId& id);
  void wake(const std::vector<WrapperPods::News>& news);
  // No timer of ours runs after this.
  void cancel();

  // Keys that wait for a worker or are with one.
  std::size_t unfinished() const;

 private:
  void wake(const PodOwner& owner);
  void wake_late();

  Loop& loop_;
  TextMap<queue::WorkId> known_;                              // by uid
  TextMap<std::map<std::string, model::ObjectKey>> wrapped_;  // TrainingJobs by AppWrapper
  std::map<model::WrapperApi, runtime::Waker> wakers_;
  runtime::Waker training_;
  std::set<PodOwner> late_;
  std::optional<TimerId> late_timer_;
};

}  // namespace codeflare::controllers
