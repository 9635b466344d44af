// How the agent ends the pods of its node, when that is what it is asked for.
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "node/agent/pod_agent.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kTellWhoIsWaitedFor = std::chrono::seconds(3);
constexpr Duration kTellAgain = std::chrono::seconds(30);

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string joined(const std::map<std::string, std::string>& names) {
  std::vector<std::string> values;
  for (const auto& [uid, name] : names) {
    values.push_back(name);
  }
  std::ranges::sort(values);
  return joined(values);
}

}  // namespace

Task<void> PodAgent::stop_pod(std::string uid, Duration grace, std::vector<std::string> sidecars) {
  PodEnding ending{.uid = uid, .grace = grace, .sidecars = std::move(sidecars)};
  ending.grace_skipped = [this] { return grace_skipped_; };
  if (health_ != nullptr) {
    ending.begin_hook = [this, uid](const std::string& container, Duration left) {
      return health_->begin_pre_stop(uid, container, left);
    };
    ending.hooks_pending = [this, uid] { return health_->pre_stop_pending(uid); };
  }
  const Result<void> ended = co_await end_with_node(env_, pods_, std::move(ending));
  const auto name = ending_.extract(uid);
  if (!ended) {
    options_.logger.warn("pod did not end", {{"uid", uid}, {"error", ended.error()}});
    stayed_.push_back(name.empty() ? uid : name.mapped());
  }
}

Task<void> PodAgent::tell_who_is_waited_for() {
  for (Duration pause = kTellWhoIsWaitedFor; co_await sleep_for(pause); pause = kTellAgain) {
    if (!ending_.empty()) {
      options_.logger.warn("waiting for pods to end; a second signal ends them at once",
                           {{"pods", joined(ending_)}});
    }
  }
}

Task<Result<void>> PodAgent::stop_pods() {
  stopping_ = true;
  // Pods that are being started now are ended with the rest.
  while (active_ > 0) {
    co_await idle_.wait_uncancellable();
  }
  TaskGroup telling(env_.loop);
  telling.spawn(tell_who_is_waited_for());
  TaskGroup group(env_.loop);
  for (const auto& [uid, known] : known_) {
    ending_.emplace(uid, known.key.ns + "/" + known.key.name);
    group.spawn(stop_pod(uid, known.grace, known.sidecars));
  }
  co_await group.join();
  co_await telling.close();
  if (!stayed_.empty()) {
    std::ranges::sort(stayed_);
    co_return fail(unavailable("pods did not end: " + joined(stayed_)));
  }
  co_return Result<void>();
}

}  // namespace codeflare::node
