#include "sdk/gang_jobs.h"

#include "base/async/task_group.h"
#include "base/human_duration.h"
#include "json/write.h"
#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "queue/marks.h"
#include "sdk/gang_job.h"
#include "sdk/gang_state.h"
#include "sdk/internal/gang_follow.h"
#include "sdk/internal/line_feed.h"
#include "sdk/job_marks.h"
#include "sdk/own_cluster_state.h"

#include <algorithm>
#include <map>
#include <utility>

namespace codeflare::sdk {

namespace {

using internal::GangFollow;
using internal::GangGoal;
using model::AppWrapper;
using model::ObjectKey;
using model::Pod;

// Pods that do not end within their grace are killed.
constexpr Duration kStopPatience = std::chrono::minutes(2);

Error job_not_found(const ObjectKey& key) {
  return not_found("job '" + key.name + "' not found in namespace '" + key.ns + "'");
}

Task<Result<std::vector<Pod>>> pods_of(kube::Client& client, std::string ns, std::string selector) {
  kube::ListOptions which{.ns = std::move(ns), .label_selector = std::move(selector)};
  CO_TRY_ASSIGN(const kube::ObjectList list,
                co_await client.list_all(model::resource_type<Pod>(), std::move(which)));
  std::vector<Pod> pods;
  for (const kube::ObjectRef& object : list.items) {
    CO_TRY_ASSIGN(Pod pod, object->as<Pod>());
    pods.push_back(std::move(pod));
  }
  co_return pods;
}

std::string uid_selector(const AppWrapper& wrapper) {
  return std::string(queue::kUidLabel) + "=" + wrapper.metadata.uid;
}

std::string stop_patch(WallTime now) {
  std::string body;
  json::Writer(body)
      .begin_object()
      .key("metadata")
      .begin_object()
      .key("annotations")
      .begin_object()
      .member(kStoppedAnnotation, to_rfc3339(now))
      .end_object()
      .end_object()
      .key("spec")
      .begin_object()
      .key("suspend")
      .boolean(true)
      .end_object()
      .end_object();
  return body;
}

class GangHandle final : public JobHandle {
 public:
  GangHandle(kube::Client& client, ObjectKey key) : client_(client), key_(std::move(key)) {}

  Task<Result<JobInfo>> get() override;
  Task<Result<std::string>> logs(LogChoice choice) override;
  Task<Result<JobEnd>> follow(JobFollow options) override;
  Task<Result<JobStop>> stop(bool wait) override;
  Task<Result<void>> remove() override;
  Task<Result<bool>> start_removal() override;
  Task<Result<JobInfo>> wait(JobWait options) override;
  Task<Result<void>> wait_gone(JobWait options) override;
  std::string where() const override { return "namespace '" + key_.ns + "'"; }
  std::string words() const override { return ""; }

 private:
  Task<Result<AppWrapper>> wrapper();
  Task<Result<JobInfo>> watch(AppWrapper wrapper, GangFollow::Options options, Duration timeout,
                              std::optional<Error>* log_error = nullptr);

  kube::Client& client_;
  ObjectKey key_;
};

Task<Result<AppWrapper>> GangHandle::wrapper() {
  CO_TRY_ASSIGN(std::optional<AppWrapper> found, co_await find_job_wrapper(client_, key_));
  if (!found) {
    co_return fail(job_not_found(key_));
  }
  co_return *std::move(found);
}

Task<Result<JobInfo>> GangHandle::get() {
  CO_TRY_ASSIGN(const AppWrapper found, co_await wrapper());
  const Result<std::vector<Pod>> pods = co_await pods_of(client_, key_.ns, uid_selector(found));
  if (!pods && pods.error().code != ErrorCode::permission_denied) {
    co_return fail(pods.error());
  }
  co_return wrapped_info(found, pods ? *pods : std::vector<Pod>());
}

Task<Result<std::string>> GangHandle::logs(LogChoice choice) {
  CO_TRY_ASSIGN(const AppWrapper found, co_await wrapper());
  CO_TRY_ASSIGN(std::vector<Pod> pods, co_await pods_of(client_, key_.ns, uid_selector(found)));
  const JobInfo job = wrapped_info(found, pods);
  if (choice.replica && (*choice.replica < 0 || *choice.replica >= job.replicas)) {
    co_return fail(invalid_argument("job '" + key_.name + "' has no replica " +
                                    std::to_string(*choice.replica) + ": replicas are 0 to " +
                                    std::to_string(job.replicas - 1)));
  }
  const auto order = [](const Pod& pod) {
    return std::pair(replica_of(pod).value_or(0), pod.metadata.creation_timestamp);
  };
  std::ranges::sort(pods, {}, order);
  std::string text;
  bool any = false;
  for (const Pod& pod : pods) {
    const std::int64_t replica = replica_of(pod).value_or(0);
    const model::ContainerStatus* status = main_status(pod);
    if ((choice.replica && *choice.replica != replica) || status == nullptr ||
        !(status->state.running || status->state.terminated)) {
      continue;
    }
    any = true;
    const bool prefixed = job.replicas > 1 && !choice.replica;
    internal::LineFeed lines(prefixed ? "[" + std::to_string(replica) + "] " : "");
    kube::LogOptions options{.container = std::string(kGangContainer), .tail_lines = choice.tail};
    CO_TRY_ASSIGN(const net::Body body,
                  co_await client_.logs(pod.metadata.key(), std::move(options)));
    while (body != nullptr) {
      CO_TRY_ASSIGN(const Bytes piece, co_await body->read());
      if (piece.empty()) {
        break;
      }
      text += lines.take(piece.view());
    }
    text += lines.rest();
  }
  if (!any && !has_ended(job.phase)) {
    co_return fail(
        failed_precondition("job '" + key_.name + "' has no log yet: " + progress_line(job)));
  }
  if (!any) {
    co_return fail(failed_precondition("job '" + key_.name + "' has no log: it is " +
                                       progress_line(job) + ", and its pods are gone"));
  }
  co_return text;
}

Task<Result<JobInfo>> GangHandle::watch(AppWrapper found, GangFollow::Options options,
                                        Duration timeout, std::optional<Error>* log_error) {
  const TaskContext& context = co_await current_context();
  TaskGroup group(*context.loop, context.stop);
  GangFollow follow(client_, key_, group, std::move(options));
  Task<Result<JobInfo>> running = follow.run(std::move(found));
  Result<JobInfo> end =
      timeout > Duration()
          ? co_await with_timeout(timeout, "job '" + key_.name + "'", std::move(running))
          : co_await std::move(running);
  co_await group.close();
  if (log_error != nullptr) {
    *log_error = follow.log_error();
  }
  co_return end;
}

Task<Result<JobEnd>> GangHandle::follow(JobFollow options) {
  CO_TRY_ASSIGN(AppWrapper found, co_await wrapper());
  GangFollow::Options how{.goal = GangGoal::finished,
                          .observer = std::move(options.observer),
                          .sink = std::move(options.sink),
                          .choice = options.choice};
  JobEnd end;
  CO_TRY_ASSIGN(end.job, co_await watch(std::move(found), std::move(how), {}, &end.log_error));
  co_return end;
}

Task<Result<JobInfo>> GangHandle::wait(JobWait options) {
  CO_TRY_ASSIGN(AppWrapper found, co_await wrapper());
  const bool running = options.goal == JobGoal::running;
  GangFollow::Options how{.goal = running ? GangGoal::running : GangGoal::finished,
                          .observer = std::move(options.observer)};
  co_return co_await watch(std::move(found), std::move(how), options.timeout);
}

Task<Result<void>> GangHandle::wait_gone(JobWait options) {
  CO_TRY_ASSIGN(std::optional<AppWrapper> found, co_await find_job_wrapper(client_, key_));
  if (found) {
    GangFollow::Options how{.goal = GangGoal::gone, .observer = std::move(options.observer)};
    CO_TRY(co_await watch(*std::move(found), std::move(how), options.timeout));
  }
  co_return Result<void>();
}

Task<Result<JobStop>> GangHandle::stop(bool wait) {
  JobStop stop;
  CO_TRY_ASSIGN(stop.job, co_await get());
  if (has_ended(stop.job.phase)) {
    co_return stop;
  }
  CO_TRY_ASSIGN(
      const kube::ObjectRef patched,
      co_await client_.patch(model::resource_type<AppWrapper>(), key_, kube::PatchKind::merge,
                             stop_patch(client_.env().clock.wall())));
  stop.was_running = true;
  if (wait) {
    CO_TRY_ASSIGN(AppWrapper now, patched->as<AppWrapper>());
    CO_TRY_ASSIGN(stop.job, co_await watch(std::move(now), {}, kStopPatience));
  }
  co_return stop;
}

Task<Result<void>> delete_wrapper(kube::Client& client, ObjectKey key) {
  kube::DeleteOptions options{.propagation_policy = "Background"};
  const Result<kube::ObjectRef> rest = co_await client.remove(model::resource_type<AppWrapper>(),
                                                              std::move(key), std::move(options));
  co_return rest || rest.error().code == ErrorCode::not_found ? Result<void>() : fail(rest.error());
}

Task<Result<bool>> GangHandle::start_removal() {
  CO_TRY(co_await wrapper());
  CO_TRY(co_await delete_wrapper(client_, key_));
  co_return true;
}

Task<Result<void>> GangHandle::remove() {
  CO_TRY_ASSIGN(AppWrapper found, co_await wrapper());
  CO_TRY(co_await delete_wrapper(client_, key_));
  CO_TRY(co_await watch(std::move(found), {.goal = GangGoal::gone}, kStopPatience));
  co_return Result<void>();
}

}  // namespace

Task<Result<std::vector<JobInfo>>> list_gang_jobs(kube::Client& client, std::string ns) {
  kube::ListOptions which{.ns = ns, .label_selector = std::string(kJobLabel)};
  const Result<kube::ObjectList> wrappers =
      co_await client.list_all(model::resource_type<AppWrapper>(), std::move(which));
  std::vector<JobInfo> jobs;
  if (!wrappers) {
    // A server without AppWrappers has no such jobs.
    co_return wrappers.error().code == ErrorCode::not_found ? Result<std::vector<JobInfo>>(jobs)
                                                            : fail(wrappers.error());
  }
  if (wrappers->items.empty()) {
    co_return jobs;
  }
  std::map<std::string, std::vector<Pod>> pods;
  if (Result<std::vector<Pod>> all =
          co_await pods_of(client, std::move(ns), std::string(kJobLabel))) {
    for (Pod& pod : *all) {
      const std::string uid(model::find_or_empty(pod.metadata.labels, queue::kUidLabel));
      pods[uid].push_back(std::move(pod));
    }
  } else if (all.error().code != ErrorCode::permission_denied) {
    co_return fail(std::move(all).error());
  }
  for (const kube::ObjectRef& object : wrappers->items) {
    CO_TRY_ASSIGN(const AppWrapper wrapper, object->as<AppWrapper>());
    if (backend_of(wrapper)) {
      jobs.push_back(wrapped_info(wrapper, pods[wrapper.metadata.uid]));
    }
  }
  co_return jobs;
}

Task<Result<std::optional<AppWrapper>>> find_job_wrapper(kube::Client& client, ObjectKey key) {
  const Result<kube::ObjectRef> object =
      co_await client.get(model::resource_type<AppWrapper>(), std::move(key));
  if (!object && object.error().code == ErrorCode::not_found) {
    co_return std::optional<AppWrapper>();
  }
  if (!object) {
    co_return fail(object.error());
  }
  CO_TRY_ASSIGN(AppWrapper wrapper, (*object)->as<AppWrapper>());
  co_return backend_of(wrapper) ? std::optional(std::move(wrapper)) : std::nullopt;
}

Task<Result<std::optional<ObjectKey>>> running_pod(kube::Client& client, ObjectKey key) {
  CO_TRY_ASSIGN(const std::optional<AppWrapper> wrapper, co_await find_job_wrapper(client, key));
  if (!wrapper) {
    co_return fail(job_not_found(key));
  }
  CO_TRY_ASSIGN(const std::vector<Pod> pods,
                co_await pods_of(client, key.ns, uid_selector(*wrapper)));
  const auto runs = [](const Pod& pod) {
    const model::ContainerStatus* status = main_status(pod);
    return replica_of(pod).value_or(0) == 0 && status != nullptr && status->state.running;
  };
  const auto found = std::ranges::find_if(pods, runs);
  co_return found == pods.end() ? std::nullopt : std::optional(found->metadata.key());
}

std::unique_ptr<JobHandle> gang_handle(kube::Client& client, ObjectKey key) {
  return std::make_unique<GangHandle>(client, std::move(key));
}

}  // namespace codeflare::sdk
