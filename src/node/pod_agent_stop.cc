// How the agent ends the pods of its node, when that is what it is asked for.
#include "base/async/sleep.h"
#include "base/async/task_group.h"
#include "node/pod_agent.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

constexpr Duration kLookWhileStopping = std::chrono::milliseconds(20);
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

Task<void> PodAgent::stop_pod(std::string uid, Duration grace) {
  const auto running = [&](std::vector<std::string>& names) {
    const SandboxView* view = pods_.find(uid);
    for (const RunRecord& run : view == nullptr ? std::vector<RunRecord>() : view->state.runs) {
      if (view->alive && !run.exited()) {
        names.push_back(run.name);
      }
    }
    return !names.empty();
  };
  std::vector<std::string> names;
  running(names);
  const Instant until = after(env_.clock.now(), grace);
  if (health_ != nullptr) {
    for (const std::string& name : names) {
      health_->begin_pre_stop(uid, name, grace);
    }
    while (health_->pre_stop_pending(uid) && !is_time_up(until)) {
      if (!co_await sleep_for(kLookWhileStopping)) {
        break;
      }
    }
  }
  for (const std::string& name : names) {
    static_cast<void>(co_await pods_.ask_to_end(uid, name));
  }
  for (std::vector<std::string> left; running(left) && !is_time_up(until); left.clear()) {
    if (!co_await sleep_for(kLookWhileStopping)) {
      break;
    }
  }
  const Result<void> closed = co_await pods_.close(uid);
  const auto name = ending_.extract(uid);
  if (!closed) {
    options_.logger.warn("pod did not end", {{"uid", uid}, {"error", closed.error()}});
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
  // What is being started now is ended with the rest.
  while (active_ > 0) {
    co_await idle_.wait_uncancellable();
  }
  TaskGroup telling(env_.loop);
  telling.spawn(tell_who_is_waited_for());
  TaskGroup group(env_.loop);
  for (const auto& [uid, known] : known_) {
    ending_.emplace(uid, known.key.ns + "/" + known.key.name);
    group.spawn(stop_pod(uid, known.grace));
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
