#include "controllers/appwrapper/conditions.h"
#include "controllers/appwrapper/internal/status_parts.h"
#include "controllers/appwrapper/remote_copies.h"
#include "model/managed_cluster.h"
#include "queue/status_words.h"
#include "queue/training_work.h"

#include <utility>

// Of an AppWrapper whose copy is on a worker: its status says what the copy says.
namespace codeflare::controllers {

using model::AppWrapperStatus;
using queue::Reason;
namespace state = model::app_wrapper_state;

namespace {

constexpr Duration kLookSoon = std::chrono::seconds(5);

std::string failure_of(const AppWrapperStatus& copy) {
  const std::string_view type =
      copy.state == state::kFailed ? condition::kFailed : condition::kQueued;
  const model::AppWrapperCondition* said = newest(copy, type);
  const std::string text = said == nullptr ? copy.message : said->message;
  return text.empty() ? "its state is " + copy.state : text;
}

bool is_seen(const CopySeen& copy) {
  return !copy.unknown && copy.lost.empty() && !copy.gone && copy.given_up.empty();
}

PodsSeen pods_of(const AppWrapperStatus& copy) {
  PodsSeen pods{.pending = copy.pending,
                .running = copy.running,
                .succeeded = copy.succeeded,
                .failed = copy.failed,
                .cpu = copy.total_cpu,
                .memory = copy.total_memory,
                .gpu = copy.total_gpu};
  pods.unschedulable_pods = copy.pending_pod_conditions;
  return pods;
}

}  // namespace

std::string remote_cluster(const AppWrapperStatus& status) {
  if (!status.plan || status.plan->places.empty()) {
    return {};
  }
  const std::string_view cluster =
      model::managed_cluster::cluster_of_node(status.plan->places.front().node);
  return cluster == model::managed_cluster::kLocal ? std::string() : std::string(cluster);
}

model::AppWrapper as_wrapper(const model::TrainingJob& job) {
  model::AppWrapper wrapper;
  wrapper.metadata = job.metadata;
  wrapper.spec.priority = job.spec.priority;
  wrapper.spec.suspend = job.spec.run_policy.suspend;
  if (queue::is_finished(job.status)) {
    const bool failed = model::is_condition_true(job.status.conditions, "Failed");
    wrapper.status.state = failed ? state::kFailed : state::kCompleted;
  }
  if (job.status.plan) {
    wrapper.status.can_run = true;
    wrapper.status.plan.emplace();
    wrapper.status.plan->places = queue::planned_places(*job.status.plan);
  }
  return wrapper;
}

bool is_waiting_there(const CopySeen& copy) {
  return is_seen(copy) && !copy.status.plan && !model::is_terminal(copy.status);
}

bool is_scaling_there(const CopySeen& copy) {
  const model::AppWrapperCondition* queued = newest(copy.status, condition::kQueued);
  return is_waiting_there(copy) && queued != nullptr &&
         queued->reason == queue::word(Reason::scaling_up);
}

void read_copy(Observed& observed) {
  const CopySeen& copy = *observed.copy;
  const AppWrapperStatus& status = copy.status;
  ItemSeen item{.name = "AppWrapper on cluster " + copy.cluster, .counts = true};
  item.lost = copy.gone;
  if (is_seen(copy)) {
    // Its plan goes when nothing of it runs any more.
    item.finished = model::is_terminal(status) && !status.plan;
    item.complete =
        status.state == state::kCompleted || status.state == state::kRunningHoldCompletion;
    if (item.finished && status.state != state::kCompleted) {
      item.failure = failure_of(status);
    }
    observed.pods = pods_of(status);
    observed.surplus = is_scaling_there(copy)
                           ? std::string(queue::word(Reason::scaling_up)) + ": cluster " +
                                 copy.cluster + " " + newest(status, condition::kQueued)->message
                           : status.message;
  } else {
    // As it was last seen.
    observed.pods = pods_of(observed.wrapper->status);
  }
  observed.items = {std::move(item)};
}

namespace internal {

// Nothing is concluded from silence: it stays where it is, and keeps its nodes.
std::optional<Decision> silence(const Observed& observed) {
  if (observed.copy && !observed.copy->given_up.empty()) {
    return withdraw(observed, {.reason = Reason::cluster_lost, .message = observed.copy->given_up});
  }
  if (observed.copy && observed.copy->fenced) {
    return withdraw(observed, {.reason = Reason::cluster_lost,
                               .message = "cluster " + observed.copy->cluster +
                                          " stopped it: the hub was silent for too long"});
  }
  if (observed.copy && observed.copy->evicted) {
    return withdraw(observed, {.reason = Reason::cluster_drained,
                               .message = "cluster " + observed.copy->cluster + " is drained"});
  }
  if (observed.copy && observed.copy->unknown) {
    Decision decision;
    decision.again = kLookSoon;
    return decision;
  }
  if (!observed.copy || observed.copy->lost.empty()) {
    return std::nullopt;
  }
  const std::string message =
      std::string(queue::word(Reason::cluster_lost)) + ": " + observed.copy->lost;
  if (observed.wrapper->status.message == message) {
    return Decision();
  }
  Decision decision = write_of(observed, message);
  decision.status.message = message;
  decision.notes.push_back({.warning = true, .reason = Reason::cluster_lost, .message = message});
  return decision;
}

std::optional<Decision> impatience(const Observed& observed, const MachineOptions& options,
                                   std::optional<Duration>& again) {
  if (!observed.copy || !observed.copy_waits_since) {
    return std::nullopt;
  }
  const Duration waited = observed.now - *observed.copy_waits_since;
  if (waited < options.dispatch_patience) {
    again = options.dispatch_patience - waited;
    return std::nullopt;
  }
  const AppWrapperStatus& copy = observed.copy->status;
  const model::AppWrapperCondition* queued = newest(copy, condition::kQueued);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(options.dispatch_patience).count();
  std::string message = "cluster " + observed.copy->cluster + " did not start it within " +
                        std::to_string(seconds) + " s";
  if (queued != nullptr && !queued->message.empty()) {
    message += ": " + queued->message;
  }
  Decision decision =
      withdraw(observed, {.reason = Reason::cluster_busy, .message = std::move(message)});
  decision.avoid = observed.copy->cluster;
  return decision;
}

Decision ended_there(const Observed& observed, const MachineOptions& options) {
  model::AppWrapper wrapper = *observed.wrapper;
  wrapper.status.can_run = true;
  Observed seen = observed;
  seen.wrapper = &wrapper;
  seen.problem.clear();
  seen.copy = CopySeen{.cluster = remote_cluster(wrapper.status), .status = *observed.copy_ended};
  read_copy(seen);
  seen.pods.pending = 0;  // it has ended, whatever was counted last
  seen.pods.running = 0;
  return running(seen, options);
}

}  // namespace internal

}  // namespace codeflare::controllers
