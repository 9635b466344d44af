#include "sdk/internal/gang_follow.h"

#include "model/codec/app_wrapper.h"
#include "model/codec/pod.h"
#include "queue/marks.h"
#include "sdk/gang_job.h"
#include "sdk/gang_state.h"
#include "sdk/internal/line_feed.h"
#include "sdk/own_cluster_state.h"

#include <utility>

namespace codeflare::sdk::internal {

namespace {

using model::AppWrapper;
using model::Pod;

// A stream that has ended well while its container seems to run: the pod's status comes later.
constexpr Duration kStatusLag = std::chrono::seconds(10);
constexpr Duration kReadAgain = std::chrono::seconds(1);
constexpr Duration kQuiet = std::chrono::hours(1);

bool has_started(const Pod& pod) {
  const model::ContainerStatus* status = main_status(pod);
  return status != nullptr && (status->state.running || status->state.terminated);
}

std::string uid_selector(const AppWrapper& wrapper) {
  return std::string(queue::kUidLabel) + "=" + wrapper.metadata.uid;
}

}  // namespace

GangFollow::GangFollow(kube::Client& client, model::ObjectKey key, TaskGroup& group,
                       Options options)
    : client_(client), key_(std::move(key)), group_(group), options_(std::move(options)) {}
GangFollow::~GangFollow() = default;

JobInfo GangFollow::info() const {
  std::vector<Pod> pods;
  for (const auto& [uid, pod] : known_) {
    pods.push_back(pod);
  }
  JobInfo job = wrapped_info(wrapper_, pods);
  if (gone_ && !has_ended(job.phase)) {
    job.phase = JobPhase::stopped;
    job.reason = "Deleted";
    job.message = "the job was deleted";
  }
  return job;
}

bool GangFollow::reached(const JobInfo& job) const {
  switch (options_.goal) {
    case GangGoal::running:
      return job.phase == JobPhase::running || has_ended(job.phase);
    case GangGoal::finished:
      return has_ended(job.phase);
    case GangGoal::gone:
      return gone_;
  }
  return true;
}

// False as long as not everything was listed once.
Result<bool> GangFollow::look() {
  if (const Error* error = wrappers_->hindrance()) {
    return fail(*error);
  }
  // Without the right to see pods the AppWrapper has to do.
  const bool pods_seen = pods_->synced() || pods_->hindrance() != nullptr;
  if (!wrappers_->synced() || !pods_seen) {
    return false;
  }
  present_.clear();
  for (Pod& pod : pods_->objects()) {
    present_.insert(pod.metadata.uid);
    std::string uid = pod.metadata.uid;
    known_.insert_or_assign(std::move(uid), std::move(pod));
  }
  const AppWrapper* wrapper = wrappers_->first();
  // Another one of the same name is another job.
  gone_ = wrapper == nullptr || wrapper->metadata.uid != wrapper_.metadata.uid;
  if (!gone_) {
    wrapper_ = *wrapper;
  }
  return true;
}

Task<Result<JobInfo>> GangFollow::run(AppWrapper wrapper) {
  wrapper_ = std::move(wrapper);
  streams_ = std::make_unique<TaskGroup>(*(co_await current_context()).loop,
                                         (co_await current_context()).stop);
  wrappers_ = std::make_unique<Followed<AppWrapper>>(
      client_, kube::WatcherOptions{.ns = key_.ns, .field_selector = "metadata.name=" + key_.name},
      changed_);
  pods_ = std::make_unique<Followed<Pod>>(
      client_, kube::WatcherOptions{.ns = key_.ns, .label_selector = uid_selector(wrapper_)},
      changed_);
  group_.spawn(wrappers_->follow());
  group_.spawn(pods_->follow());
  std::optional<JobInfo> shown;
  bool seen = false;
  Result<void> end;
  while (end) {
    JobInfo job = info();
    if (seen && options_.observer && !has_ended(job.phase) &&
        (!shown || shown->phase != job.phase || shown->message != job.message)) {
      shown = job;
      options_.observer(job);
    }
    begin_streams();
    if (reached(job) || gone_) {
      break;
    }
    end = co_await next_change(changed_, seen ? kQuiet : kLookAgain);
    if (end) {
      const Result<bool> looked = look();
      end = looked ? Result<void>() : fail(looked.error());
      seen = seen || (looked && *looked);
    }
  }
  if (end && options_.goal == GangGoal::finished) {
    // The watch of pods may lag behind that of the AppWrapper.
    end = co_await list_pods_once();
    begin_streams();
    co_await streams_->join();
  }
  co_await streams_->close();
  if (!end) {
    co_return fail(std::move(end).error());
  }
  co_return info();
}

Task<Result<void>> GangFollow::list_pods_once() {
  kube::ListOptions which{.ns = key_.ns, .label_selector = uid_selector(wrapper_)};
  const Result<kube::ObjectList> list =
      co_await client_.list_all(model::resource_type<Pod>(), std::move(which));
  if (!list) {
    // What is known has to do.
    co_return list.error().code == ErrorCode::cancelled ? fail(list.error()) : Result<void>();
  }
  for (const kube::ObjectRef& object : list->items) {
    if (Result<Pod> pod = object->as<Pod>()) {
      std::string uid = pod->metadata.uid;
      present_.insert(uid);
      known_.insert_or_assign(std::move(uid), *std::move(pod));
    }
  }
  co_return Result<void>();
}

void GangFollow::begin_streams() {
  if (!options_.sink) {
    return;
  }
  const std::int64_t replicas = info().replicas;
  for (const auto& [uid, pod] : known_) {
    const std::int64_t replica = replica_of(pod).value_or(0);
    const bool wanted = !options_.choice.replica || *options_.choice.replica == replica;
    if (!wanted || !present_.contains(uid) || !has_started(pod) || !begun_.insert(uid).second) {
      continue;
    }
    const bool prefixed = replicas > 1 && !options_.choice.replica;
    Replica from{.pod = pod.metadata.key(),
                 .uid = uid,
                 .prefix = prefixed ? "[" + std::to_string(replica) + "] " : ""};
    streams_->spawn(stream(std::move(from), later_ ? std::nullopt : options_.choice.tail));
  }
  later_ = !begun_.empty();
}

bool GangFollow::is_over(const std::string& uid) const {
  const auto pod = known_.find(uid);
  const model::ContainerStatus* status = pod == known_.end() ? nullptr : main_status(pod->second);
  return gone_ || !present_.contains(uid) || status == nullptr ||
         status->state.terminated.has_value();
}

// To the end of the stream, which need not be the end of the log.
Task<Result<void>> GangFollow::read_log(const Replica& replica, kube::LogOptions options,
                                        LineFeed& lines) {
  CO_TRY_ASSIGN(const net::Body body, co_await client_.logs(replica.pod, std::move(options)));
  while (body != nullptr) {
    CO_TRY_ASSIGN(const Bytes piece, co_await body->read());
    if (piece.empty()) {
      break;
    }
    if (std::string text = lines.take(piece.view()); !text.empty()) {
      CO_TRY(co_await options_.sink(std::move(text)));
    }
  }
  co_return Result<void>();
}

Task<void> GangFollow::stream(Replica replica, std::optional<std::int64_t> tail) {
  LineFeed lines(replica.prefix);
  while (true) {
    kube::LogOptions options{
        .container = std::string(kGangContainer), .follow = true, .tail_lines = tail};
    Result<void> end = co_await read_log(replica, std::move(options), lines);
    if (!end && end.error().code == ErrorCode::cancelled) {
      co_return;
    }
    const Duration patience = end ? kStatusLag : kReadAgain;
    const Instant give_up = client_.env().clock.now() + patience;
    while (!is_over(replica.uid) && client_.env().clock.now() < give_up) {
      if (!co_await next_change(changed_, kReadAgain)) {
        co_return;
      }
    }
    const bool over = is_over(replica.uid);
    if (over && (end || tail || !present_.contains(replica.uid))) {
      if (!end) {
        log_error_ = std::move(end).error();
      }
      break;
    }
    if (over) {
      // Cut, and the container has ended: once more, to its end.
      lines.start_over();
      options = {.container = std::string(kGangContainer)};
      if (Result<void> rest = co_await read_log(replica, std::move(options), lines); !rest) {
        log_error_ = std::move(rest).error();
      }
      break;
    }
    lines.start_over();
  }
  if (std::string text = lines.rest(); !text.empty()) {
    static_cast<void>(co_await options_.sink(std::move(text)));
  }
}

}  // namespace codeflare::sdk::internal
