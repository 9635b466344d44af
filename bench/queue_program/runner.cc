#include "bench/queue_program/runner.h"

#include "base/async/sleep.h"
#include "bench/queue_program/objects.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace codeflare::bench {

using kube::ObjectKey;
using kube::WatcherEvent;

namespace {

constexpr Duration kProgressEvery = std::chrono::seconds(10);
// Time for the controller to hear of the quota trees before the first workload.
constexpr Duration kQuotaPause = std::chrono::seconds(2);

bool is_object(const WatcherEvent& event) {
  return event.type == WatcherEvent::Type::init_object || event.type == WatcherEvent::Type::applied;
}

}  // namespace

Runner::Runner(Env env, kube::Client& client, Scenario scenario)
    : client_(client), scenario_(std::move(scenario)), record_(env.clock), group_(env.loop) {}

Task<Result<void>> Runner::run() {
  CO_TRY(co_await prepare());
  group_.spawn(follow(kRuns, &Runner::run_seen));
  group_.spawn(follow(kAppWrappers, &Runner::wrapper_seen));
  group_.spawn(tell_progress());
  for (const QueueRef& queue : scenario_.queues()) {
    for (std::size_t set = 0; set < queue.set->work.size(); ++set) {
      group_.spawn(generate(queue, set));
    }
  }
  bool stopped = false;
  while (!failure_ && !stopped && record_.finished_count() < scenario_.workloads()) {
    stopped = !co_await changed_.wait();
  }
  co_await group_.close();
  if (failure_) {
    co_return fail(*std::move(failure_));
  }
  if (stopped) {
    co_return fail(cancelled());
  }
  co_return Result<void>();
}

Task<Result<void>> Runner::prepare() {
  std::int64_t number = 0;
  for (std::string& node : nodes(scenario_)) {
    CO_TRY(co_await client_.create(kNodes, "", std::move(node)));
    // Admission marks every new node as not ready, and nobody here takes that back.
    const ObjectKey key{"", "bench-" + std::to_string(number++)};
    CO_TRY(
        co_await client_.patch(kNodes, key, kube::PatchKind::merge, R"({"spec":{"taints":null}})"));
  }
  for (std::string& subtree : quota_subtrees(scenario_)) {
    CO_TRY(co_await client_.create(kQuotaSubtrees, "default", std::move(subtree)));
  }
  for (const QueueRef& queue : scenario_.queues()) {
    std::string ns = named_object("v1", "Namespace", queue.name);
    CO_TRY(co_await client_.create(kNamespaces, "", std::move(ns)));
  }
  co_return co_await sleep_for(kQuotaPause);
}

Task<void> Runner::generate(QueueRef queue, std::size_t set) {
  const WorkSet& work = queue.set->work[set];
  for (std::int64_t round = 0; round < work.count; ++round) {
    for (std::size_t i = 0; i < work.classes.size(); ++i) {
      if (!co_await sleep_for(work.interval)) {
        co_return;
      }
      const WorkClass& work_class = work.classes[i];
      const ObjectKey key{queue.name, work_class.name + "-" + std::to_string(set) + "-" +
                                          std::to_string(round) + "-" + std::to_string(i)};
      std::string body = app_wrapper(key, work_class);
      Result<kube::ObjectRef> made =
          co_await client_.create(kAppWrappers, queue.name, std::move(body));
      if (!made) {
        fail_with(std::move(made).error().with_context("create " + key.to_string()));
        co_return;
      }
      record_.created(key);
    }
  }
}

Task<void> Runner::follow(kube::ResourceType type, void (Runner::*seen)(const WatcherEvent&)) {
  kube::Watcher watcher(client_, std::move(type), {});
  for (;;) {
    Result<WatcherEvent> event = co_await watcher.next();
    if (!event) {
      co_return;
    }
    (this->*seen)(*event);
  }
}

void Runner::run_seen(const WatcherEvent& event) {
  if (event.type == WatcherEvent::Type::deleted) {
    const ObjectKey key = event.object->key();
    running_.erase(key);
    record_.evicted(key);
    return;
  }
  if (!is_object(event)) {
    return;
  }
  const ObjectKey key = event.object->key();
  std::string uid(event.object->uid());
  std::string& known = running_[key];
  if (known == uid) {
    return;  // our own write of its phase
  }
  known = uid;
  record_.admitted(key);
  group_.spawn(complete(key, std::move(uid)));
}

void Runner::wrapper_seen(const WatcherEvent& event) {
  if (!is_object(event)) {
    return;
  }
  const std::string state = event.object->string_at({"status", "state"});
  if (state == "Completed") {
    record_.finished(event.object->key());
    changed_.notify_all();
  } else if (state == "Failed" || state == "Deleted") {
    fail_with(internal_error("AppWrapper " + event.object->key().to_string() + " is " + state));
  }
}

Task<void> Runner::complete(ObjectKey key, std::string uid) {
  const WorkClass* work_class = scenario_.find(class_of(key.name));
  if (work_class == nullptr || !co_await sleep_for(work_class->runtime)) {
    co_return;
  }
  const auto known = running_.find(key);
  if (known == running_.end() || known->second != uid) {
    co_return;  // evicted meanwhile
  }
  Result<kube::ObjectRef> written = co_await client_.patch(
      kRuns, key, kube::PatchKind::merge, run_complete(), {.subresource = "status"});
  // Not found: evicted while it ended.
  if (!written && written.error().code != ErrorCode::not_found &&
      written.error().code != ErrorCode::cancelled) {
    fail_with(std::move(written).error().with_context("complete " + key.to_string()));
  }
}

Task<void> Runner::tell_progress() {
  while (co_await sleep_for(kProgressEvery)) {
    std::fprintf(stderr, "%lld created, %lld admitted, %lld evicted, %lld finished\n",
                 static_cast<long long>(record_.created_count()),
                 static_cast<long long>(record_.admitted_count()),
                 static_cast<long long>(record_.evicted_count()),
                 static_cast<long long>(record_.finished_count()));
  }
}

void Runner::fail_with(Error error) {
  if (!failure_) {
    failure_ = std::move(error);
  }
  changed_.notify_all();
}

}  // namespace codeflare::bench
