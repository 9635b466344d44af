#include "controllers/appwrapper/conditions.h"
#include "controllers/appwrapper/internal/status_parts.h"
#include "controllers/appwrapper/remote_copies.h"
#include "queue/status_words.h"

#include <algorithm>
#include <array>
#include <string_view>

// The half of the status machine that watches over dispatched AppWrappers: completion, failure,
// deadlines, health, counts.
namespace codeflare::controllers {

using model::AppWrapper;
using model::AppWrapperStatus;
using queue::Reason;
namespace state = model::app_wrapper_state;

namespace {

constexpr std::int64_t kRequeueSeconds = 300;  // the CRD's default

// The soonest of several points in time at which something may have to be done.
class Alarm {
 public:
  void at(Duration from_now) {
    from_now = std::max(from_now, Duration(1));
    soonest_ = soonest_ ? std::min(*soonest_, from_now) : from_now;
  }
  const std::optional<Duration>& soonest() const { return soonest_; }

 private:
  std::optional<Duration> soonest_;
};

std::int64_t min_available(const AppWrapper& wrapper) {
  return wrapper.spec.scheduling_spec ? wrapper.spec.scheduling_spec->min_available : 0;
}

std::int64_t planned_pods(const AppWrapperStatus& status) {
  std::int64_t count = 0;
  for (const model::PlannedPlace& place :
       status.plan ? status.plan->places : model::List<model::PlannedPlace>()) {
    count += place.count;
  }
  return count;
}

bool are_active(const PodsSeen& pods) {
  return !is_quiet(pods);
}

// No pod of it will come any more, or none was to be expected.
bool is_at_rest(const ItemSeen& item) {
  return item.finished || item.complete || item.lost || item.pods == 0;
}

bool are_at_rest(const std::vector<ItemSeen>& items) {
  return std::ranges::all_of(items, is_at_rest);
}

// It was dispatched and nobody has made a single pod.
bool none_came(const Observed& observed) {
  const AppWrapperStatus& status = observed.wrapper->status;
  const PodsSeen& pods = observed.pods;
  return planned_pods(status) > 0 &&
         pods.pending + pods.running + pods.succeeded + pods.failed == 0 && !has_run(status) &&
         !are_at_rest(observed.items);
}

// Gone, and nobody knows how it was in the end.
bool is_missing(const ItemSeen& item) {
  return item.lost && !item.finished && !item.complete && item.failure.empty();
}

// Every pod that was to come has ended well, as far as was seen: who is gone then was done.
bool ended_well(const Observed& observed) {
  std::int64_t all = 0;
  for (const ItemSeen& item : observed.items) {
    all += item.pods;
  }
  return all > 0 && is_quiet(observed.pods) && observed.pods.failed == 0 &&
         std::max(observed.pods.succeeded, observed.wrapper->status.succeeded) >= all;
}

const ItemSeen* failed_item(const std::vector<ItemSeen>& items) {
  auto at = std::ranges::find_if(items, [](const ItemSeen& item) { return !item.failure.empty(); });
  return at == items.end() ? nullptr : &*at;
}

bool all_complete(const std::vector<ItemSeen>& items) {
  return std::ranges::any_of(items, &ItemSeen::counts) &&
         std::ranges::all_of(items,
                             [](const ItemSeen& item) { return !item.counts || item.complete; });
}

// How long it has been so; at first sight not at all.
Duration settled_for(const Observed& observed) {
  return observed.settled_since ? observed.now - *observed.settled_since : Duration::zero();
}

Duration quiet_for(const Observed& observed) {
  return observed.quiet_since ? observed.now - *observed.quiet_since : Duration::zero();
}

std::optional<Decision> deadline(const Observed& observed, Alarm& alarm) {
  const AppWrapperStatus& status = observed.wrapper->status;
  const auto& scheduling = observed.wrapper->spec.scheduling_spec;
  const std::int64_t limit =
      scheduling && scheduling->dispatch_duration ? scheduling->dispatch_duration->limit : 0;
  // A copy that waits for machines does not run yet.
  if (limit <= 0 || !status.plan->started || (observed.copy && is_waiting_there(*observed.copy))) {
    return std::nullopt;
  }
  WallTime started = status.plan->started->time;
  if (observed.copy && observed.copy->status.plan && observed.copy->status.plan->started) {
    started = std::max(started, observed.copy->status.plan->started->time);
  }
  // In seconds, so that an absurd limit does not overflow.
  const auto ran = std::chrono::floor<std::chrono::milliseconds>(observed.now - started);
  const std::int64_t left =
      limit - status.consumed_seconds - std::chrono::floor<std::chrono::seconds>(ran).count();
  if (left > 0) {
    alarm.at(std::chrono::seconds(std::min(left, std::int64_t{24 * 3600})));
    return std::nullopt;
  }
  const std::string message =
      "Dispatch deadline exceeded. allowed to run for " + std::to_string(limit) + " seconds";
  Observed marked = observed;
  AppWrapper wrapper = *observed.wrapper;
  touch(wrapper.status, condition::kPreemptCandidate,
        {.reason = Reason::dispatch_deadline_exceeded, .message = message}, observed.now);
  marked.wrapper = &wrapper;
  return internal::fail_with(marked, Reason::dispatch_deadline_exceeded, message);
}

// It ended, well or not, and its pods are done: the objects stay for people to look at.
Decision end(const Observed& observed, std::string why) {
  Decision decision = internal::write_of(observed, std::move(why));
  AppWrapperStatus& status = decision.status;
  internal::copy_counts(observed.pods, status);
  internal::drop_plan(status, observed.now);
  status.finished = model::MicroTime{observed.now};
  decision.tell = Tell::forget;
  return decision;
}

std::optional<Decision> completion(const Observed& observed, const MachineOptions& options,
                                   Alarm& alarm) {
  if (!all_complete(observed.items)) {
    return std::nullopt;
  }
  if (!are_active(observed.pods)) {
    if (!are_at_rest(observed.items) && quiet_for(observed) < options.quiet_before_end) {
      alarm.at(options.quiet_before_end - quiet_for(observed));
      return std::nullopt;
    }
    Decision decision = end(observed, "all items are complete and no pod is left running");
    decision.status.state = state::kCompleted;
    decision.status.message.clear();
    touch(decision.status, condition::kCompleted, {.reason = Reason::pods_completed}, observed.now);
    decision.notes.push_back(
        {.reason = Reason::completed, .message = "all items are complete", .good = true});
    return decision;
  }
  if (observed.wrapper->status.state == state::kRunningHoldCompletion) {
    return std::nullopt;
  }
  if (settled_for(observed) < options.hold_completion_after) {
    alarm.at(options.hold_completion_after - settled_for(observed));
    return std::nullopt;
  }
  Decision decision = internal::write_of(observed, "all items are complete, pods still run");
  decision.status.state = state::kRunningHoldCompletion;
  internal::copy_counts(observed.pods, decision.status);
  touch(decision.status, condition::kRunningHoldCompletion,
        {.reason = Reason::some_items_completed}, observed.now);
  return decision;
}

// Reasons of kinds whose controllers only count pods that failed: the pods know more.
bool is_of_pods(std::string_view failure) {
  constexpr std::array<std::string_view, 8> kReasons = {
      "BackoffLimitExceeded", "FailedIndexes",       "MaxFailedIndexesExceeded",
      "PodFailurePolicy",     "FailedJobs",          "PyTorchJobFailed",
      "its phase is",         "its condition Failed"};
  return std::ranges::any_of(kReasons,
                             [&](std::string_view reason) { return failure.starts_with(reason); });
}

std::string cause_of(const ItemSeen& failed, const PodsSeen& pods) {
  if (!pods.trouble || failed.failure.starts_with("DeadlineExceeded")) {
    return failed.failure;
  }
  const std::string text = pods.trouble->text();
  return is_of_pods(failed.failure) ? text : failed.failure + "; " + text;
}

// Behind a message about pods that do not run as they should: the cause, when a pod reports one.
std::string trouble_behind(const PodsSeen& pods) {
  return pods.trouble ? " " + pods.trouble->text() : "";
}

std::optional<Decision> item_failure(const Observed& observed, const MachineOptions& options,
                                     Alarm& alarm) {
  const ItemSeen* failed = failed_item(observed.items);
  if (failed == nullptr) {
    return std::nullopt;
  }
  const std::string message = failed->name + " failed: " + cause_of(*failed, observed.pods);
  // The objects stay only when none of them can bring pods that nobody would account for.
  if (!are_active(observed.pods) && are_at_rest(observed.items)) {
    Decision decision = end(observed, message);
    decision.status.state = state::kFailed;
    decision.status.can_run = false;
    touch(decision.status, condition::kFailed, {.reason = Reason::item_failed, .message = message},
          observed.now);
    decision.notes.push_back({.warning = true, .reason = Reason::failed, .message = message});
    return decision;
  }
  if (settled_for(observed) < options.item_failure_after) {
    alarm.at(options.item_failure_after - settled_for(observed));
    return std::nullopt;
  }
  return internal::fail_with(observed, Reason::item_failed, message);
}

std::optional<Decision> loss(const Observed& observed) {
  auto lost = std::ranges::find_if(observed.items, is_missing);
  if (lost == observed.items.end()) {
    return std::nullopt;
  }
  return internal::fail_with(observed, Reason::item_lost,
                             lost->name + " was deleted by another client");
}

std::optional<Decision> health(const Observed& observed, Alarm& alarm) {
  const AppWrapper& wrapper = *observed.wrapper;
  const AppWrapperStatus& status = wrapper.status;
  if (status.state != state::kRunning || is_healthy(observed)) {
    return std::nullopt;
  }
  WallTime since = std::max(touched(newest(status, condition::kDispatched)),
                            touched(newest(status, condition::kRunning)));
  since = std::max(since, observed.unhealthy_since.value_or(WallTime::min()));
  const WallTime due = since == WallTime::min()
                           ? observed.now
                           : since + std::chrono::seconds(internal::requeue_wait(wrapper, status));
  if (observed.now < due) {
    alarm.at(due - observed.now);
    return std::nullopt;
  }
  const std::int64_t minimum = min_available(wrapper);
  const PodsSeen& pods = observed.pods;
  if (std::int64_t{pods.running} + pods.succeeded < minimum) {
    return internal::withdraw(
        observed,
        {.reason = Reason::min_pods_not_running,
         .message = "Insufficient number of Running and Completed pods, minimum=" +
                    std::to_string(minimum) + ", running=" + std::to_string(pods.running) +
                    ", completed=" + std::to_string(pods.succeeded) + "." + trouble_behind(pods),
         .counts = true,
         .grows = true});
  }
  if (none_came(observed)) {
    return internal::withdraw(observed, {.reason = Reason::pods_not_created,
                                         .message = "No pod was created for the items.",
                                         .counts = true,
                                         .grows = true});
  }
  return internal::withdraw(
      observed,
      {.reason = Reason::pods_failed_scheduling,
       .message =
           "Pods failed scheduling failed=" +
           std::to_string(std::max(std::int64_t{pods.unschedulable}, observed.standing.pods_lost)) +
           ", running=" + std::to_string(pods.running) + "." + trouble_behind(pods),
       .counts = true,
       .grows = true});
}

// Places that were lost have been found anew.
std::optional<Decision> another_plan(const Observed& observed) {
  if (observed.standing.kind != queue::Standing::Kind::started ||
      observed.standing.plan == observed.wrapper->status.plan->places) {
    return std::nullopt;
  }
  // A plan never moves to another cluster: the copy of this one may run.
  AppWrapperStatus moved = observed.wrapper->status;
  moved.plan->places = observed.standing.plan;
  if (remote_cluster(moved) != remote_cluster(observed.wrapper->status)) {
    return std::nullopt;
  }
  Decision decision = internal::write_of(observed, "placement changed");
  decision.status.plan->places = observed.standing.plan;
  return decision;
}

// The trouble of its pods, and whatever the plan does not say.
std::string remarks_of(const Observed& observed) {
  const std::string trouble = observed.pods.trouble ? observed.pods.trouble->text() : "";
  return trouble + (trouble.empty() || observed.surplus.empty() ? "" : "; ") + observed.surplus;
}

Decision counts(const Observed& observed, const MachineOptions& options) {
  const AppWrapperStatus& before = observed.wrapper->status;
  Decision decision = internal::write_of(observed, "pod counts");
  AppWrapperStatus& status = decision.status;
  internal::copy_counts(observed.pods, status);
  status.message =
      observed.problem.empty()
          ? remarks_of(observed)
          : "can no longer be read; it keeps running and its end will not be noticed: " +
                observed.problem;
  if (observed.pods.running > 0 && !has_run(status)) {
    touch(status, condition::kRunning, {.reason = Reason::pods_running}, observed.now);
  }
  if (status == before) {
    return {};
  }
  if (!observed.problem.empty() && status.message != before.message) {
    decision.notes.push_back(
        {.warning = true, .reason = Reason::unreadable, .message = status.message});
    return decision;
  }
  if (observed.trouble_is_new) {
    decision.notes.push_back(
        {.warning = true, .reason = Reason::pod_trouble, .message = observed.pods.trouble->text()});
    return decision;
  }
  decision.idle = true;
  return internal::not_before(std::move(decision), observed, options.counts_every);
}

}  // namespace

bool has_run(const AppWrapperStatus& status) {
  const model::AppWrapperCondition* running = newest(status, condition::kRunning);
  return running != nullptr && touched(running) >= touched(newest(status, condition::kDispatched));
}

bool is_quiet(const PodsSeen& pods) {
  return pods.pending + pods.running == 0;
}

bool is_healthy(const Observed& observed) {
  const AppWrapper& wrapper = *observed.wrapper;
  const PodsSeen& pods = observed.pods;
  const std::int64_t well = std::int64_t{pods.running} + pods.succeeded;
  const std::int64_t minimum = min_available(wrapper);
  if (observed.standing.pods_lost > 0 || none_came(observed)) {
    return false;
  }
  if (minimum > 0) {
    return well >= minimum;
  }
  // Without a minimum only the scheduler's "unschedulable" counts, and only of pods that were
  // planned: a pod of an unknown pod set stands for a planned one that is missing.
  const std::int64_t planned = planned_pods(wrapper.status);
  const std::int64_t surplus =
      std::clamp<std::int64_t>(pods.pending + well - planned, 0, observed.surplus_waiting);
  // Growth that no node takes does not stop what trains.
  const std::int64_t needed = std::min(planned, observed.smallest.value_or(planned));
  return pods.unschedulable <= surplus || well >= std::max(needed, std::int64_t{1});
}

bool is_settled(const std::vector<ItemSeen>& items) {
  return all_complete(items) || failed_item(items) != nullptr;
}

namespace internal {

std::int64_t requeue_wait(const AppWrapper& wrapper, const AppWrapperStatus& status) {
  if (status.requeueing_time_in_seconds > 0) {
    return status.requeueing_time_in_seconds;
  }
  const auto& scheduling = wrapper.spec.scheduling_spec;
  const std::int64_t asked =
      scheduling && scheduling->requeuing ? scheduling->requeuing->time_in_seconds.value_or(0) : 0;
  return asked > 0 ? std::min(asked, std::int64_t{10} * 365 * 24 * 3600) : kRequeueSeconds;
}

Decision adopt(const Observed& observed) {
  Decision decision = write_of(observed, "dispatched by another controller");
  AppWrapperStatus& status = decision.status;
  status.plan = model::AppWrapperPlan{
      .places = observed.standing.plan,
      .started = model::MicroTime{observed.standing.since.value_or(observed.now)}};
  touch(status, condition::kQueued, {.reason = Reason::adopted, .status = "False"}, observed.now);
  decision.notes.push_back({.reason = Reason::adopted, .message = "already dispatched"});
  return decision;
}

Decision running(const Observed& seen, const MachineOptions& options) {
  if (!seen.problem.empty()) {
    // Neither its items nor what it asks for is known: no reason to end it can be trusted.
    return counts(seen, options);
  }
  if (std::optional<Decision> silent = silence(seen)) {
    return *std::move(silent);
  }
  Alarm alarm;
  std::optional<Observed> mended;
  if (std::ranges::any_of(seen.items, is_missing) && ended_well(seen)) {
    mended = seen;
    for (ItemSeen& item : mended->items) {
      const bool missing = is_missing(item);
      item.complete = item.complete || (missing && item.counts);
      item.finished = item.finished || missing;
    }
  }
  const Observed& observed = mended ? *mended : seen;
  // Completion first: what has ended well is not called late.
  std::optional<Decision> found = completion(observed, options, alarm);
  if (!found) {
    found = deadline(observed, alarm);
  }
  if (!found) {
    found = item_failure(observed, options, alarm);
  }
  if (!found) {
    found = loss(observed);
  }
  if (observed.copy) {
    // Health is its own cluster's business.
    std::optional<Duration> again;
    if (!found) {
      found = impatience(observed, options, again);
    }
    if (again) {
      alarm.at(*again);
    }
  } else if (!found) {
    found = health(observed, alarm);
  }
  if (!found) {
    found = another_plan(observed);
  }
  if (found) {
    return *std::move(found);
  }
  Decision decision = counts(observed, options);
  if (decision.again) {
    alarm.at(*decision.again);
  }
  decision.again = alarm.soonest();
  return decision;
}

}  // namespace internal

}  // namespace codeflare::controllers
