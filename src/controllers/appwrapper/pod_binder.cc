#include "controllers/appwrapper/pod_binder.h"

#include "base/async/sleep.h"
#include "controllers/appwrapper/unplaced_pod.h"
#include "controllers/pods_type.h"
#include "json/write.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace codeflare::controllers {

namespace {

constexpr Duration kBindingPause = std::chrono::seconds(1);
constexpr Duration kBindingPauseMax = std::chrono::seconds(10);
// Far more pods than a cluster has: neither bindings nor news of pods without a place get lost.
constexpr std::size_t kBindingsMax = std::size_t{1} << 24;
constexpr std::size_t kUnplacedMax = kBindingsMax;

std::string binding_body(const queue::Binding& binding) {
  std::string body;
  json::Writer w(body);
  w.begin_object().member("apiVersion", "v1").member("kind", "Binding");
  w.key("metadata").begin_object().member("name", binding.pod.name);
  w.member("namespace", binding.pod.ns).member("uid", binding.uid).end_object();
  w.key("target").begin_object().member("apiVersion", "v1").member("kind", "Node");
  w.member("name", binding.node).end_object().end_object();
  return body;
}

}  // namespace

PodBinder::PodBinder(Env env, kube::Client& client, queue::Queue& queue, QueueMetrics& metrics,
                     Options options)
    : env_(env),
      client_(client),
      queue_(queue),
      metrics_(metrics),
      options_(std::move(options)),
      bindings_(kBindingsMax),
      unplaced_(kUnplacedMax) {}

void PodBinder::bind(queue::Binding binding) {
  static_cast<void>(bindings_.try_push(std::move(binding)));
}

bool PodBinder::tell_unplaced(const std::string& uid) {
  return unplaced_.try_push(uid);
}

void PodBinder::start(TaskGroup& group) {
  for (std::size_t i = 0; i < options_.in_flight; ++i) {
    group.spawn(bind_pods(group));
  }
  group.spawn(tell_unplaced_pods());
}

Task<void> PodBinder::bind_pods(TaskGroup& group) {
  for (;;) {
    Result<queue::Binding> binding = co_await bindings_.pop();
    if (!binding) {
      co_return;
    }
    co_await bind(*std::move(binding), group);
  }
}

Task<void> PodBinder::bind(queue::Binding binding, TaskGroup& group) {
  Result<std::string> bound =
      co_await client_.post(kPods, binding.pod, "binding", binding_body(binding));
  metrics_.bound(bound.has_value());
  if (bound) {
    co_return;
  }
  if (bound.error().code != ErrorCode::cancelled) {
    options_.logger.info(
        "cannot bind a pod",
        {{"pod", binding.pod.to_string()}, {"node", binding.node}, {"error", bound.error()}});
  }
  // Others are bound meanwhile.
  group.spawn(look_after(std::move(binding)));
}

// One at a time: nothing depends on it.
Task<void> PodBinder::tell_unplaced_pods() {
  for (;;) {
    const Result<std::string> uid = co_await unplaced_.pop();
    if (!uid) {
      co_return;
    }
    const WallTime now = std::chrono::floor<std::chrono::seconds>(env_.clock.wall());
    const std::optional<queue::Queue::Unplaced> unplaced = queue_.unplaced(*uid, now);
    if (!unplaced) {
      continue;
    }
    const Result<bool> told =
        co_await controllers::tell_unplaced(client_, {unplaced->pod, *uid, unplaced->why}, now);
    if (!told && told.error().code != ErrorCode::not_found &&
        told.error().code != ErrorCode::conflict && told.error().code != ErrorCode::cancelled) {
      options_.logger.info("cannot write the PodScheduled condition of a pod",
                           {{"pod", unplaced->pod.to_string()}, {"error", told.error()}});
    }
    if (told && *told && options_.events != nullptr) {
      options_.events->warning({.gvk = kPods.gvk(), .key = unplaced->pod, .uid = *uid},
                               "FailedScheduling", unplaced->why);
    }
  }
}

// The answer may be lost and the cache behind: only the server knows whether the pod is bound after
// all. A place that was handed out again too early would be taken twice.
Task<void> PodBinder::look_after(queue::Binding binding) {
  Duration pause = kBindingPause;
  while (co_await sleep_for(pause)) {
    Result<kube::ObjectRef> pod = co_await client_.get(kPods, binding.pod);
    if (!pod && pod.error().code != ErrorCode::not_found) {
      pause = std::min(pause * 2, kBindingPauseMax);  // there may be thousands of us
      continue;
    }
    if (pod && (*pod)->uid() == binding.uid && (*pod)->string_at({"spec", "nodeName"}).empty()) {
      queue_.binding_failed(binding.uid);
      options_.changed();
    }
    co_return;
  }
}

}  // namespace codeflare::controllers
