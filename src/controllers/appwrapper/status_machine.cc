#include "controllers/appwrapper/status_machine.h"

#include "controllers/appwrapper/conditions.h"
#include "controllers/appwrapper/internal/status_parts.h"
#include "controllers/appwrapper/remote_copies.h"
#include "queue/marks.h"
#include "queue/status_words.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers {

using internal::copy_counts;
using internal::drop_plan;
using internal::fail_with;
using internal::not_before;
using internal::withdraw;
using internal::write_of;
using model::AppWrapper;
using model::AppWrapperStatus;
using queue::has_reason;
using queue::Reason;
using queue::Standing;
using queue::state_is_running;
using queue::word;
namespace state = model::app_wrapper_state;

namespace {

constexpr Duration kLookAgain = std::chrono::seconds(30);
constexpr std::int64_t kWaitMax = std::int64_t{10} * 365 * 24 * 3600;  // seconds

bool has_finalizer(const AppWrapper& wrapper) {
  return std::ranges::count(wrapper.metadata.finalizers, queue::kFinalizer) > 0;
}

bool is_suspended(const AppWrapper& wrapper) {
  return wrapper.spec.suspend.value_or(false);
}

// Why it is Deleted: what happened last, and how often it had been tried.
std::string limit_text(const AppWrapperStatus& status) {
  const model::AppWrapperCondition* last = newest(status, condition::kPreemptCandidate);
  std::string text = last == nullptr ? "" : last->message;
  if (!text.empty()) {
    text += text.ends_with('.') ? " " : ". ";
  }
  const std::int64_t times = status.number_of_requeueings;
  return text + "Requeued " + (times == 1 ? "once" : std::to_string(times) + " times") +
         ", the limit of schedulingSpec.requeuing.maxNumRequeuings";
}

// Whose pods they are must still be known while they go: that of adopted work comes later.
void tell_limit(AppWrapperStatus& status, WallTime now) {
  if (!queue::is_from_mcad(status)) {
    const std::string message = limit_text(status);
    touch(status, condition::kQueued,
          {.reason = Reason::requeued_too_often, .message = message, .status = "False"}, now);
  }
}

// It was tried and found no room, so MCAD would have had it at the head of the line.
bool was_tried(const Standing& standing) {
  return standing.why != Reason::none && standing.why != Reason::held &&
         standing.reason != Reason::held && standing.reason != Reason::paused &&
         standing.reason != Reason::user_unknown &&
         standing.reason != Reason::definition_outdated && standing.reason != Reason::unlicensed;
}

bool waits_for_quota(const Standing& standing) {
  return standing.quota || standing.why == Reason::insufficient_quota ||
         standing.why == Reason::unknown_quota;
}

Words backoff_words(const Standing& standing) {
  if (waits_for_quota(standing)) {
    return {Reason::quota_limit_exceeded,
            "Insufficient quota and/or resources to dispatch AppWrapper."};
  }
  return {Reason::app_wrapper_not_runnable, "Insufficient resources to dispatch AppWrapper."};
}

// The first words about an AppWrapper, and those of another round after a withdrawal.
void join_line(const AppWrapper& wrapper, AppWrapperStatus& status, WallTime now) {
  if (newest(status, condition::kInit) == nullptr) {
    touch(status, condition::kInit, {}, now);
    status.controller_first_timestamp = model::MicroTime{now};
  }
  if (!status.system_priority) {
    status.system_priority = wrapper.spec.priority;
  }
  if (newest(status, condition::kQueueing) == nullptr) {
    touch(status, condition::kQueueing, {.reason = Reason::awaiting_head_of_line}, now);
  }
  if (status.state.empty()) {
    status.state = state::kPending;
  }
}

// Entries of an earlier round in the queue are brought up to date, those of this round stay.
bool is_of_this_round(const AppWrapperStatus& status, const model::AppWrapperCondition* entry) {
  return entry != nullptr && touched(entry) >= touched(newest(status, condition::kQueueing));
}

void reach_head_of_line(AppWrapperStatus& status, WallTime now) {
  if (!is_of_this_round(status, newest(status, condition::kHeadOfLine))) {
    touch(status, condition::kHeadOfLine, {.reason = Reason::front_of_queue}, now);
  }
}

Decision refuse(const Observed& observed, const MachineOptions& options) {
  const Standing& standing = observed.standing;
  if (standing.reason == Reason::none || standing.reason == Reason::evaluating) {
    return {};
  }
  const AppWrapperStatus& before = observed.wrapper->status;
  Decision decision = write_of(observed, "waiting: " + std::string(word(standing.reason)));
  AppWrapperStatus& status = decision.status;
  join_line(*observed.wrapper, status, observed.now);
  status.can_run = false;
  if (was_tried(standing)) {
    reach_head_of_line(status, observed.now);
    const Words words = backoff_words(standing);
    if (!is_of_this_round(status, find(status, condition::kBackoff, words.reason))) {
      touch(status, condition::kBackoff, words, observed.now);
    }
  }
  const model::AppWrapperCondition* queued = newest(before, condition::kQueued);
  const bool said = queued != nullptr && queued->status == "True";
  const bool noted = said && queued->message.find(standing.message) != std::string::npos;
  if (status == before && noted && has_reason(*queued, standing.reason)) {
    return {};
  }
  if (status == before && said) {  // only another reason
    decision = not_before(std::move(decision), observed, options.counts_every);
    if (decision.act == Act::none) {
      return decision;
    }
  }
  const std::string sentence = observed.sentence ? observed.sentence() : standing.message;
  touch(decision.status, condition::kQueued, {.reason = standing.reason, .message = sentence},
        observed.now);
  return decision;
}

// The decision to start, before anything is created.
Decision intend(const Observed& observed) {
  Decision decision = write_of(observed, "admitted");
  AppWrapperStatus& status = decision.status;
  join_line(*observed.wrapper, status, observed.now);
  reach_head_of_line(status, observed.now);
  status.state = state::kPending;
  status.can_run = true;
  status.plan = model::AppWrapperPlan{
      .places = observed.standing.plan,
      .started = model::MicroTime{observed.standing.since.value_or(observed.now)}};
  status.message.clear();
  copy_counts({}, status);
  if (newest(status, condition::kQueued) != nullptr) {
    touch(status, condition::kQueued, {.reason = Reason::dispatched, .status = "False"},
          observed.now);
  }
  return decision;
}

Decision tell_only(Tell tell) {
  Decision decision;
  decision.tell = tell;
  return decision;
}

// Holds nothing: in line, or about to be.
Decision queued(const Observed& observed, const MachineOptions& options) {
  const AppWrapper& wrapper = *observed.wrapper;
  if (!observed.problem.empty()) {
    return fail_with(observed, Reason::item_creation_failure,
                     wrapper.metadata.key().to_string() + " creation failure: " + observed.problem);
  }
  switch (observed.standing.kind) {
    case Standing::Kind::unknown:
      return {};
    case Standing::Kind::waiting:
      return refuse(observed, options);
    case Standing::Kind::stopping:
      return tell_only(Tell::withdrawn);  // before it had anything
    case Standing::Kind::started:
      break;
  }
  if (is_suspended(wrapper)) {
    return tell_only(Tell::withdrawn);
  }
  if (!has_finalizer(wrapper)) {
    Decision decision;
    decision.act = Act::add_finalizer;
    decision.why = "about to create items";
    return decision;
  }
  return intend(observed);
}

Decision dispatched(const Observed& observed) {
  Decision decision = write_of(observed, "all items exist");
  AppWrapperStatus& status = decision.status;
  const model::MicroTime now{observed.now};
  status.state = state::kRunning;
  if (!status.controller_first_dispatch_timestamp) {
    status.controller_first_dispatch_timestamp = now;
  }
  const std::string cluster = remote_cluster(status);
  const std::string where = cluster.empty() ? "" : "on cluster " + cluster;
  touch(status, condition::kDispatched, {.reason = Reason::app_wrapper_runnable, .message = where},
        observed.now);
  decision.late = true;
  decision.notes.push_back(
      {.reason = Reason::dispatched,
       .message = cluster.empty() ? "all items were created" : "dispatched " + where,
       .good = true});
  return decision;
}

// All items are there. If it has ended well before its start was written, both are written at once.
Decision started(const Observed& observed, const MachineOptions& options) {
  Decision begun = dispatched(observed);
  if (!is_settled(observed.items)) {
    return begun;
  }
  AppWrapper wrapper = *observed.wrapper;
  wrapper.status = begun.status;
  Observed afterwards = observed;
  afterwards.wrapper = &wrapper;
  Decision ended = internal::running(afterwards, options);
  if (ended.status.state != state::kCompleted) {
    return begun;
  }
  ended.notes.insert(ended.notes.begin(), begun.notes.begin(), begun.notes.end());
  return ended;
}

// Its places are not held indefinitely for items that cannot be created.
Decision try_again(const Observed& observed) {
  const AppWrapperStatus& status = observed.wrapper->status;
  const auto wait = std::chrono::seconds(internal::requeue_wait(*observed.wrapper, status));
  if (status.plan->started && observed.now - status.plan->started->time >= wait) {
    const bool here = remote_cluster(status).empty();
    return withdraw(observed, {.reason = Reason::items_not_created,
                               .message = observed.creation->message,
                               .counts = here,
                               .grows = here});
  }
  Decision decision;
  decision.act = Act::retry;
  decision.why = observed.creation->message;
  return decision;
}

// Has its places, and its items are being created.
Decision starting(const Observed& observed, const MachineOptions& options) {
  if (!observed.creation) {
    Decision decision;
    decision.act = Act::create;
    decision.why = "admitted";
    return decision;
  }
  switch (observed.creation->kind) {
    case Creation::Kind::done:
      return started(observed, options);
    case Creation::Kind::refused:
      return fail_with(observed, Reason::item_creation_failure,
                       observed.wrapper->metadata.key().to_string() +
                           " creation failure: " + observed.creation->message);
    case Creation::Kind::later:
      return try_again(observed);
    case Creation::Kind::elsewhere:
      return withdraw(observed,
                      {.reason = Reason::cluster_refused, .message = observed.creation->message});
    case Creation::Kind::quota:
      break;
  }
  return withdraw(
      observed,
      {.reason = Reason::quota_exceeded, .message = observed.creation->message, .counts = true});
}

Duration force_after(const AppWrapper& wrapper, const MachineOptions& options) {
  const auto& scheduling = wrapper.spec.scheduling_spec;
  const std::int64_t own = scheduling && scheduling->requeuing
                               ? scheduling->requeuing->force_deletion_time_in_seconds
                               : 0;
  return own > 0 ? Duration(std::chrono::seconds(std::min(own, kWaitMax)))
                 : options.force_deletion_after;
}

void note_stuck(const Observed& observed, Decision& decision) {
  if (observed.stuck) {
    decision.notes.push_back(
        {.warning = true,
         .reason = Reason::stuck,
         .message = observed.left + ", overdue and deleted without grace period"});
  }
}

// They were asked to go and are still there.
Decision wait_for_rest(const Observed& observed, const MachineOptions& options, Duration waited,
                       Duration until_force) {
  const bool is_told = waited >= options.name_what_stays_after || until_force <= Duration::zero();
  if (is_told && observed.wrapper->status.message != observed.left) {
    Decision decision = write_of(observed, observed.left);
    decision.status.message = observed.left;
    note_stuck(observed, decision);
    return decision;
  }
  Decision decision;
  note_stuck(observed, decision);
  decision.again = until_force > Duration::zero() ? std::min(until_force, kLookAgain) : kLookAgain;
  if (waited < options.name_what_stays_after) {
    decision.again = std::min(*decision.again, options.name_what_stays_after - waited);
  }
  return decision;
}

Decision take_back(const Observed& observed, const MachineOptions& options, WallTime since) {
  const Duration patience = force_after(*observed.wrapper, options);
  // A status without conditions was touched at no time.
  const Duration waited = observed.now - std::clamp(since, WallTime(), observed.now);
  // However long it is late: whoever was not asked yet is asked first.
  const Duration asked = observed.asked_since
                             ? observed.now - std::min(*observed.asked_since, observed.now)
                             : Duration::zero();
  const Duration until_force =
      std::max(patience - waited, std::min(patience, options.ask_before_force) - asked);
  if (!observed.left.empty()) {
    return wait_for_rest(observed, options, waited, until_force);
  }
  Decision decision;
  decision.act = Act::take_back;
  decision.why = "releasing its resources";
  decision.force = observed.asked_since && until_force <= Duration::zero();
  if (observed.standing.kind == Standing::Kind::started) {
    decision.tell = Tell::stopping;
  }
  return decision;
}

// An item without pods does not hold a place: it does not keep those of the AppWrapper either.
void note_abandoned(const Observed& observed, Decision& decision) {
  if (!observed.abandoned.empty()) {
    decision.notes.push_back(
        {.warning = true,
         .reason = Reason::abandoned,
         .message =
             observed.abandoned +
             " did not terminate in time; none of its pods runs, so its resources are free"});
  }
}

Decision clear(const Observed& observed, const MachineOptions& options) {
  const AppWrapperStatus& before = observed.wrapper->status;
  if (!observed.cleared) {
    return take_back(observed, options, last_touched(before));
  }
  if (observed.copy_ended && !model::is_terminal(before)) {
    return internal::ended_there(observed, options);
  }
  if (model::is_terminal(before)) {
    Decision decision = write_of(observed, "all items are gone");
    drop_plan(decision.status, observed.now);
    if (before.state == state::kDeleted && queue::is_from_mcad(before)) {
      tell_limit(decision.status, observed.now);
    }
    copy_counts({}, decision.status);
    decision.status.message.clear();
    note_abandoned(observed, decision);
    decision.tell = Tell::forget;
    return decision;
  }
  Decision decision = write_of(observed, "all items are gone; back in the queue");
  AppWrapperStatus& status = decision.status;
  drop_plan(status, observed.now);
  copy_counts({}, status);
  status.message.clear();
  note_abandoned(observed, decision);
  status.state = state::kPending;
  touch(status, condition::kQueueing, {.reason = Reason::awaiting_head_of_line}, observed.now);
  decision.tell = Tell::withdrawn;
  return decision;
}

// Somebody deletes the AppWrapper.
Decision leave(const Observed& observed, const MachineOptions& options) {
  const AppWrapper& wrapper = *observed.wrapper;
  if (!has_finalizer(wrapper)) {
    return tell_only(Tell::forget);
  }
  if (needs_items(wrapper) && !observed.cleared) {
    return take_back(observed, options, *wrapper.metadata.deletion_timestamp);
  }
  Decision decision;
  decision.act = Act::release;
  decision.tell = Tell::forget;
  decision.why = "nothing is left";
  note_abandoned(observed, decision);
  return decision;
}

Decision finished(const Observed& observed) {
  const AppWrapper& wrapper = *observed.wrapper;
  Decision decision;
  if (observed.standing.kind != Standing::Kind::unknown) {
    decision.tell = Tell::forget;
  }
  if (!wrapper.spec.ttl_seconds_after_finished) {
    return decision;
  }
  const AppWrapperStatus& status = wrapper.status;
  const WallTime since = status.finished ? status.finished->time : last_touched(status);
  if (since == WallTime::min()) {
    return decision;
  }
  const std::int64_t ttl =
      std::clamp(*wrapper.spec.ttl_seconds_after_finished, std::int64_t{0}, kWaitMax);
  const WallTime end = since + std::chrono::seconds(ttl);
  if (observed.now < end) {
    decision.again = end - observed.now;
    return decision;
  }
  decision.act = Act::expire;
  decision.why = "finished " + std::to_string(ttl) + " seconds ago";
  return decision;
}

std::optional<Decision> reason_to_stop(const Observed& observed) {
  const Standing& standing = observed.standing;
  // Running work does not end because somebody has made its object unreadable.
  if (!observed.problem.empty() && !state_is_running(observed.wrapper->status)) {
    return fail_with(
        observed, Reason::item_creation_failure,
        observed.wrapper->metadata.key().to_string() + " creation failure: " + observed.problem);
  }
  if (is_suspended(*observed.wrapper)) {
    return withdraw(observed, {.reason = Reason::suspended, .message = "spec.suspend is true"});
  }
  // Our own decision is made again below, with its own words.
  if (standing.kind == Standing::Kind::stopping && standing.reason != Reason::stopping) {
    return withdraw(
        observed, {.reason = standing.reason == Reason::none ? Reason::preempted : standing.reason,
                   .message = standing.message});
  }
  if (standing.kind == Standing::Kind::waiting) {
    // The queue does not hold its places: a write of ours arrived after all.
    return withdraw(observed, {.reason = Reason::places_lost, .message = "resources are not held"});
  }
  return std::nullopt;
}

}  // namespace

bool is_adopted(const AppWrapperStatus& status) {
  return status.can_run && !status.plan && state_is_running(status);
}

bool needs_items(const AppWrapper& wrapper) {
  const AppWrapperStatus& status = wrapper.status;
  return status.plan.has_value() || is_adopted(status) ||
         (wrapper.metadata.deleting() && model::is_terminal(status));
}

Decision decide(const Observed& observed, const MachineOptions& options) {
  const AppWrapper& wrapper = *observed.wrapper;
  const AppWrapperStatus& status = wrapper.status;
  if (wrapper.metadata.deleting()) {
    return leave(observed, options);
  }
  if (model::is_terminal(status)) {
    return status.plan ? clear(observed, options) : finished(observed);
  }
  if (!status.plan && !is_adopted(status)) {
    return queued(observed, options);
  }
  if (!status.can_run) {
    return clear(observed, options);
  }
  if (observed.standing.kind == Standing::Kind::unknown && observed.problem.empty()) {
    return {};  // the queue has not seen it yet
  }
  if (!has_finalizer(wrapper)) {
    Decision decision;
    decision.act = Act::add_finalizer;
    decision.why = "has items";
    return decision;
  }
  if (!status.plan) {
    // Work that others started is not ended because we do not understand it.
    return observed.problem.empty() ? internal::adopt(observed) : Decision();
  }
  Decision decision =
      state_is_running(status) ? internal::running(observed, options) : starting(observed, options);
  if (decision.status.state == state::kCompleted) {
    return decision;  // what has ended well is not run again, whoever wants its places
  }
  if (std::optional<Decision> stop = reason_to_stop(observed)) {
    return *std::move(stop);
  }
  if (observed.standing.kind == Standing::Kind::stopping && decision.tell == Tell::nothing &&
      decision.act != Act::create) {
    return withdraw(observed, {.reason = Reason::stopped, .message = "about to be stopped"});
  }
  return decision;
}

namespace internal {

Decision write_of(const Observed& observed, std::string why) {
  Decision decision;
  decision.act = Act::write;
  decision.status = observed.wrapper->status;
  decision.why = std::move(why);
  return decision;
}

Decision fail_with(const Observed& observed, Reason reason, std::string message) {
  Decision decision = write_of(observed, message);
  AppWrapperStatus& status = decision.status;
  if (newest(status, condition::kInit) == nullptr) {
    touch(status, condition::kInit, {}, observed.now);
    status.controller_first_timestamp = model::MicroTime{observed.now};
  }
  status.state = state::kFailed;
  status.can_run = false;
  status.finished = model::MicroTime{observed.now};
  touch(status, condition::kFailed, {.reason = reason, .message = message}, observed.now);
  // Whose pods they are must still be known while they go.
  if (newest(status, condition::kQueued) != nullptr && !queue::is_from_mcad(status)) {
    touch(status, condition::kQueued, {.reason = Reason::failed, .status = "False"}, observed.now);
  }
  decision.tell = status.plan ? Tell::stopping : Tell::forget;
  decision.notes.push_back(
      {.warning = true, .reason = Reason::failed, .message = std::move(message)});
  return decision;
}

Decision not_before(Decision decision, const Observed& observed, Duration every) {
  const Duration since = observed.written ? observed.now - *observed.written : every;
  if (since >= every || since < Duration::zero()) {
    return decision;
  }
  Decision later;
  later.again = every - since;
  return later;
}

namespace {

// The wait before the next look at its health, grown as asked.
void grow_wait(const AppWrapper& wrapper, AppWrapperStatus& status) {
  const auto& scheduling = wrapper.spec.scheduling_spec;
  const model::Requeuing requeuing =
      scheduling && scheduling->requeuing ? *scheduling->requeuing : model::Requeuing();
  const std::int64_t first = requeue_wait(wrapper, {});
  const std::int64_t wait = requeue_wait(wrapper, status);
  if (requeuing.growth_type.empty() || requeuing.growth_type == "exponential") {
    status.requeueing_time_in_seconds = std::min(2 * wait, kWaitMax);
  } else if (requeuing.growth_type == "linear") {
    status.requeueing_time_in_seconds = std::min(wait + first, kWaitMax);
  }
  if (requeuing.max_time_in_seconds > 0 && status.requeueing_time_in_seconds > 0) {
    status.requeueing_time_in_seconds =
        std::min(status.requeueing_time_in_seconds, requeuing.max_time_in_seconds);
  }
}

}  // namespace

Decision withdraw(const Observed& observed, const Withdrawal& withdrawal) {
  Decision decision = write_of(observed, "withdrawn: " + withdrawal.message);
  AppWrapperStatus& status = decision.status;
  const auto& scheduling = observed.wrapper->spec.scheduling_spec;
  const std::int64_t requeuings_max =
      scheduling && scheduling->requeuing ? scheduling->requeuing->max_num_requeuings : 0;
  status.can_run = false;
  copy_counts(observed.pods, status);
  touch(status, condition::kPreemptCandidate,
        {.reason = withdrawal.reason, .message = withdrawal.message}, observed.now);
  decision.tell = Tell::stopping;
  if (withdrawal.grows) {
    grow_wait(*observed.wrapper, status);
  }
  if (withdrawal.counts) {
    if (requeuings_max > 0 && status.number_of_requeueings >= requeuings_max) {
      status.state = state::kDeleted;
      status.finished = model::MicroTime{observed.now};
      tell_limit(status, observed.now);
      decision.notes.push_back(
          {.warning = true, .reason = Reason::deleted, .message = limit_text(status)});
      return decision;
    }
    status.number_of_requeueings += 1;
  }
  touch(status, condition::kBackoff,
        {.reason = Reason::preemption_triggered, .message = withdrawal.message}, observed.now);
  const bool has_own_word =
      withdrawal.reason == Reason::preempted || withdrawal.reason == Reason::suspended;
  decision.notes.push_back(
      {.warning = true,
       .reason = has_own_word ? withdrawal.reason : Reason::withdrawn,
       .message = std::string(word(withdrawal.reason)) + ": " + withdrawal.message});
  return decision;
}

void drop_plan(AppWrapperStatus& status, WallTime now) {
  if (status.plan && status.plan->started && status.plan->started->time < now) {
    status.consumed_seconds +=
        std::chrono::floor<std::chrono::seconds>(now - status.plan->started->time).count();
  }
  status.plan.reset();
}

void copy_counts(const PodsSeen& pods, AppWrapperStatus& status) {
  status.pending = pods.pending;
  status.running = pods.running;
  status.succeeded = pods.succeeded;
  status.failed = pods.failed;
  status.total_cpu = pods.cpu;
  status.total_memory = pods.memory;
  status.total_gpu = pods.gpu;
  status.pending_pod_conditions = pods.unschedulable_pods;
}

}  // namespace internal

}  // namespace codeflare::controllers
