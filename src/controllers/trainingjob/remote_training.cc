#include "controllers/trainingjob/remote_training.h"

#include "controllers/status_patch.h"
#include "controllers/trainingjob/names.h"
#include "model/codec/training_job.h"
#include "model/resources.h"
#include "queue/marks.h"
#include "queue/status_words.h"
#include "queue/training_work.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace codeflare::controllers::trainingjob {

using model::TrainingJob;
using model::TrainingJobStatus;
using queue::Reason;
using runtime::Action;
using runtime::Next;
using std::chrono::seconds;

namespace {

const runtime::ResourceType kJobs = model::resource_type<TrainingJob>();
// For answers that no watch brings.
constexpr Duration kLookSoon = seconds(5);
constexpr Duration kLookAgain = seconds(30);

// Machines take as long as they take, and a cool-down is the job's own: the cluster ends both.
bool has_own_time(const TrainingJobStatus& copy) {
  return copy.reason == queue::word(Reason::scaling_up) || copy.stage == stage::kRequeueCooldown;
}

std::int64_t size_of(const TrainingJob& job) {
  return job.status.plan ? static_cast<std::int64_t>(job.status.plan->places.size()) : 0;
}

}  // namespace

RemoteTraining::RemoteTraining(Env env, runtime::Actor& actor, QueueDriver& driver,
                               RemoteOptions options)
    : env_(env),
      actor_(actor),
      driver_(driver),
      options_(std::move(options)),
      finalizer_(kJobs, std::string(queue::kFinalizer)) {}

bool RemoteTraining::concerns(const kube::Object& object, const Observed& observed) const {
  const TrainingJob& job = observed.job;
  if (observed.wrapped || !queue::is_ours(job)) {
    return false;
  }
  if (job.metadata.deleting()) {
    return finalizer_.on(object);
  }
  if (job.status.plan) {
    return !remote_cluster(job.status).empty();
  }
  return observed.standing.kind == queue::Standing::Kind::started &&
         !remote_cluster(observed.standing.plan).empty();
}

RemoteTraining::Memory& RemoteTraining::memory(const TrainingJob& job) {
  Memory& known = memory_[job.metadata.key()];
  if (known.uid != job.metadata.uid) {
    known = Memory{.uid = job.metadata.uid};
  }
  return known;
}

void RemoteTraining::forget(const model::ObjectKey& key) {
  const auto at = memory_.find(key);
  if (at == memory_.end()) {
    return;
  }
  if (options_.copies != nullptr) {
    options_.copies->forget(at->second.uid);
  }
  memory_.erase(at);
}

RemoteMoment RemoteTraining::moment(const TrainingJob& job) const {
  return {job, std::chrono::floor<seconds>(env_.clock.wall())};
}

Task<Result<Next>> RemoteTraining::reconcile(kube::ObjectRef object, const Observed& observed) {
  const TrainingJob& job = observed.job;
  const queue::Standing& standing = observed.standing;
  memory(job);
  if (options_.copies == nullptr) {
    TrainingJobStatus status = job.status;
    status.reason = queue::word(Reason::cluster_lost);
    status.message = "no clusters are managed here";
    CO_TRY(co_await write(job, std::move(status)));
    co_return Next::after(kLookAgain);
  }
  if (job.metadata.deleting()) {
    co_return co_await release(std::move(object), observed);
  }
  if (!finalizer_.on(*object)) {
    runtime::Plan plan;
    plan.actions.push_back(finalizer_.add(*object, "it has a copy on a worker cluster"));
    CO_TRY(co_await actor_.act(job.metadata.key(), std::move(plan)));
    co_return Next::await_change();
  }
  const bool started = standing.kind == queue::Standing::Kind::started;
  if (!job.status.plan) {
    TrainingJobStatus status = planned_there(moment(job), standing);
    CO_TRY(co_await write(job, std::move(status)));
    co_return Next::await_change();
  }
  // Its plan alone says where its copy is. A gang that lost all of its places stays there.
  if (!started || is_elsewhere(standing.plan, remote_cluster(job.status))) {
    co_return co_await withdraw(job,
                                {started ? Reason::place_lost : standing.reason, standing.message});
  }
  if (!standing.plan.empty()) {
    TrainingJobStatus status = planned_there(moment(job), standing);
    if (status.plan != job.status.plan) {
      CO_TRY(co_await write(job, std::move(status)));
      co_return Next::await_change();
    }
  }
  if (!is_dispatched(job.status)) {
    co_return co_await send(std::move(object), observed);
  }
  co_return co_await follow(observed);
}

// --- there ---

Task<Result<Next>> RemoteTraining::send(kube::ObjectRef object, const Observed& observed) {
  const TrainingJob& job = observed.job;
  const std::string cluster = remote_cluster(job.status);
  const model::AppWrapper wrapper = as_wrapper(job);
  const RemoteWork work{wrapper, &job, size_of(job)};
  const Result<Creation> made = co_await options_.copies->create(cluster, work, std::move(object));
  if (!made) {
    TrainingJobStatus status = job.status;
    status.message = "cannot be sent to cluster " + cluster + " now: " + made.error().message;
    if (made.error().code != ErrorCode::cancelled) {
      CO_TRY(co_await write(job, std::move(status)));
    }
    co_return fail(made.error());
  }
  if (made->kind != Creation::Kind::done) {
    co_return co_await withdraw(job, {Reason::cluster_refused, made->message});
  }
  CO_TRY(co_await write(job, dispatched_there(moment(job)),
                        {{false, "Dispatched", "runs on cluster " + cluster}}));
  co_return Next::await_change();
}

Task<Result<Next>> RemoteTraining::follow(const Observed& observed) {
  const TrainingJob& job = observed.job;
  const std::string cluster = remote_cluster(job.status);
  const model::AppWrapper wrapper = as_wrapper(job);
  const RemoteWork work{wrapper, &job, size_of(job)};
  CO_TRY_ASSIGN(const CopySeen copy, co_await options_.copies->look(cluster, work));
  if (copy.unknown) {
    co_return Next::after(kLookSoon);
  }
  if (!copy.lost.empty()) {
    TrainingJobStatus status = job.status;
    status.reason = queue::word(Reason::cluster_lost);
    status.message = copy.lost;
    CO_TRY(co_await write(job, std::move(status)));
    co_return Next::after(kLookAgain);
  }
  if (std::optional<Withdrawal> why = why_withdrawn(job, copy)) {
    co_return co_await withdraw(job, *std::move(why));
  }
  // Its plan goes when nothing of it runs any more.
  if (queue::is_finished(*copy.training) && !copy.training->plan) {
    co_return co_await finish(job, *copy.training);
  }
  Memory& known = memory(job);
  std::optional<Duration> again;
  if (known.waits_since) {
    again = *known.waits_since + options_.patience - env_.clock.now();
  }
  if (copy.outdated) {
    again = std::min(again.value_or(kLookSoon), kLookSoon);
  }
  TrainingJobStatus status = mirrored(moment(job), *copy.training);
  const Instant due = known.written.value_or(Instant()) + options_.counts_every;
  const bool later = known.written && env_.clock.now() < due && !is_urgent(job.status, status);
  if (status != job.status && later) {
    const Duration left = due - env_.clock.now();
    co_return Next::after(again ? std::min(*again, left) : left);
  }
  if (status != job.status) {
    known.written = env_.clock.now();
    CO_TRY(co_await write(job, std::move(status)));
  }
  co_return again ? Next::after(*again) : Next::await_change();
}

std::optional<RemoteTraining::Withdrawal> RemoteTraining::why_withdrawn(const TrainingJob& job,
                                                                        const CopySeen& copy) {
  const std::string cluster = "cluster " + copy.cluster;
  if (!copy.given_up.empty()) {
    return Withdrawal{Reason::cluster_lost, copy.given_up};
  }
  if (copy.fenced) {
    return Withdrawal{Reason::cluster_lost,
                      cluster + " stopped it: the hub was silent for too long"};
  }
  if (copy.evicted) {
    return Withdrawal{Reason::cluster_drained, cluster + " is drained"};
  }
  if (copy.gone || !copy.training) {
    return Withdrawal{Reason::cluster_refused, "the copy on " + cluster + " was deleted there"};
  }
  Memory& known = memory(job);
  if (!is_waiting_there(copy) || has_own_time(*copy.training)) {
    known.waits_since.reset();
    return std::nullopt;
  }
  if (!known.waits_since) {
    known.waits_since = env_.clock.now();
  }
  if (env_.clock.now() - *known.waits_since < options_.patience) {
    return std::nullopt;
  }
  options_.copies->avoid(job.metadata.uid, copy.cluster);
  std::string message = cluster + " did not start it within " +
                        std::to_string(std::chrono::floor<seconds>(options_.patience).count()) +
                        " s";
  if (!copy.training->message.empty()) {
    message += ": " + copy.training->message;
  }
  return Withdrawal{Reason::cluster_busy, std::move(message)};
}

// --- back ---

Task<Result<Next>> RemoteTraining::withdraw(const TrainingJob& job, Withdrawal why) {
  driver_.stopping(job.metadata.uid);
  Memory& known = memory(job);
  known.waits_since.reset();
  if (known.message.empty()) {
    known.reason = queue::word(why.reason);
    known.message = why.message;
  }
  const std::string reason = known.reason;
  const std::string message = known.message;
  const model::AppWrapper wrapper = as_wrapper(job);
  const RemoteWork work{wrapper, &job, size_of(job)};
  CO_TRY_ASSIGN(const CopyRemoval removal,
                co_await options_.copies->take_back(remote_cluster(job.status), work));
  if (!removal.left.empty()) {
    TrainingJobStatus status = job.status;
    status.reason = reason;
    status.message =
        (message.empty() ? "" : message + "; ") + "waiting for " + removal.left + " to terminate";
    CO_TRY(co_await write(job, std::move(status)));
    co_return Next::after(kLookSoon);
  }
  if (removal.training) {
    co_return co_await finish(job, *removal.training);
  }
  std::vector<runtime::EventNote> events;
  if (!message.empty()) {
    events.push_back({true, reason, message});
  }
  CO_TRY(co_await write(job, queued_again(moment(job), reason, message), std::move(events)));
  memory(job) = Memory{.uid = job.metadata.uid};
  driver_.withdrawn(job.metadata.uid, std::nullopt);
  co_return Next::await_change();
}

Task<Result<Next>> RemoteTraining::finish(const TrainingJob& job, const TrainingJobStatus& copy) {
  TrainingJobStatus status = ended_there(moment(job), copy);
  const bool failed = model::is_condition_true(status.conditions, "Failed");
  runtime::EventNote event{failed, failed ? "Failed" : "Completed", status.message};
  CO_TRY(co_await write(job, std::move(status), {std::move(event)}));
  driver_.remove(job.metadata.uid);
  co_return Next::await_change();
}

Task<Result<Next>> RemoteTraining::release(kube::ObjectRef object, const Observed& observed) {
  const TrainingJob& job = observed.job;
  const std::string cluster = remote_cluster(job.status);
  const model::AppWrapper wrapper = as_wrapper(job);
  const RemoteWork work{wrapper, &job, size_of(job)};
  std::string left;
  if (cluster.empty()) {
    CO_TRY_ASSIGN(left, co_await options_.copies->remove_all(work));
  } else {
    driver_.stopping(job.metadata.uid);
    CO_TRY_ASSIGN(const CopyRemoval removal, co_await options_.copies->take_back(cluster, work));
    left = removal.left;
  }
  if (!left.empty()) {
    co_return Next::after(kLookSoon);
  }
  runtime::Plan plan;
  plan.actions.push_back(finalizer_.remove(*object, "no copy of it is left"));
  CO_TRY(co_await actor_.act(job.metadata.key(), std::move(plan)));
  if (!cluster.empty()) {
    driver_.remove(job.metadata.uid);
  }
  co_return Next::await_change();
}

// --- writing ---

Task<Result<void>> RemoteTraining::write(const TrainingJob& job, TrainingJobStatus status,
                                         std::vector<runtime::EventNote> events) {
  if (status == job.status) {
    co_return Result<void>();
  }
  runtime::Plan plan;
  plan.actions.push_back({.verb = Action::Verb::patch,
                          .type = kJobs,
                          .key = job.metadata.key(),
                          .body = status_patch(job, status),
                          .why = "status is out of date",
                          .write = {.subresource = "status"}});
  plan.events = std::move(events);
  co_return co_await actor_.act(job.metadata.key(), std::move(plan));
}

}  // namespace codeflare::controllers::trainingjob
