#include "controllers/job/job_decision.h"

#include "controllers/job/index_set.h"
#include "controllers/job/pod_failure_policy.h"
#include "model/condition.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace codeflare::controllers::job {

namespace {

using model::Condition;
using model::Job;
using model::JobStatus;
using std::chrono::seconds;

constexpr std::string_view kController = "kubernetes.io/job-controller";
constexpr Duration kBackoffFirst = seconds(10);
constexpr Duration kBackoffMax = std::chrono::minutes(10);
// Keeps the status below 20 KB and one Job from holding up the others.
constexpr std::size_t kUncountedMax = 500;
constexpr std::size_t kPodsPerLookMax = 500;
// A pod that becomes ready and ends within this time costs no write for having been ready.
constexpr Duration kReadyTold = seconds(1);

// Why the Job is over; not yet in force while pods are still there.
struct Finish {
  bool success = false;
  std::string reason;
  std::string message;
};

class Decision {
 public:
  Decision(const Job& job, std::vector<PodDigest> pods, WallTime now)
      : job_(job), pods_(std::move(pods)), now_(now), status_(job.status) {
    if (has_failure_policy()) {
      policy_ = PodFailurePolicy::read(job.spec.pod_failure_policy);
    }
  }

  Desired take() && {
    count();
    if (!status_.start_time && !suspended()) {
      status_.start_time = now_;
    }
    finish_ = end_of_job();
    if (finish_) {
      stop_all();
    } else {
      manage();
      if (complete()) {
        finish_ = Finish{true, "CompletionsReached", "Reached expected number of succeeded pods"};
      } else {
        note_suspension();
      }
    }
    status_.active = active_;
    status_.ready = ready_;
    status_.terminating = terminating_;
    const bool all_counted = count_ended();
    if (finish_) {
      write_finish(all_counted);
    }
    wait_with_ready_counts();
    if (!(status_ == job_.status)) {
      desired_.status = std::move(status_);
    }
    return std::move(desired_);
  }

 private:
  bool suspended() const { return job_.spec.suspend.value_or(false); }
  bool indexed() const { return job_.spec.completion_mode.value_or("") == "Indexed"; }
  std::int64_t completions() const { return job_.spec.completions.value_or(0); }
  std::int64_t parallelism() const { return job_.spec.parallelism.value_or(1); }
  std::int64_t backoff_limit() const { return job_.spec.backoff_limit.value_or(6); }
  bool has_failure_policy() const { return !job_.spec.pod_failure_policy.empty(); }
  // Pods on their way out are waited for before they are replaced: only the end shows the cause.
  bool replaces_failed_only() const {
    return job_.spec.pod_replacement_policy.value_or("") == "Failed" || has_failure_policy();
  }
  // The policy says that the failure of this pod does not count.
  bool ignored(const PodDigest& pod) const {
    return failed(pod) &&
           policy_.verdict_on(pod, job_.metadata.ns).action == PodFailurePolicy::Action::ignore;
  }
  bool counts(const PodDigest& pod) const {
    return !indexed() || (pod.index >= 0 && pod.index < completions());
  }
  // A deleted pod may never report that it failed. For a dropped one kube-controller-manager's
  // PodGC does; without a PodGC the Job's finalizer would keep the pod.
  bool failed(const PodDigest& pod) const {
    return pod.phase == Phase::failed ||
           (pod.terminating() && (pod.dropped || !replaces_failed_only()));
  }

  void look_again(Duration delay) {
    delay = std::max(delay, Duration::zero());
    desired_.look_again = desired_.look_again ? std::min(*desired_.look_again, delay) : delay;
  }

  // Numbers of all that has been seen, whether or not the status has them already.
  void count() {
    if (!status_.uncounted_terminated_pods) {
      status_.uncounted_terminated_pods.emplace();
    }
    settle_uncounted();
    const auto& uncounted = *status_.uncounted_terminated_pods;
    uncounted_succeeded_ = {uncounted.succeeded.begin(), uncounted.succeeded.end()};
    uncounted_failed_ = {uncounted.failed.begin(), uncounted.failed.end()};
    succeeded_ = status_.succeeded + static_cast<std::int64_t>(uncounted.succeeded.size());
    failed_ = status_.failed + static_cast<std::int64_t>(uncounted.failed.size());
    indexes_ = IndexSet::parse(status_.completed_indexes, completions());
    for (const PodDigest& pod : pods_) {
      active_ += pod.active();
      terminating_ += pod.terminating();
      ready_ += pod.active() && pod.ready;
      if (!pod.tracked || !counts(pod) || uncounted_failed_.contains(pod.uid)) {
        continue;
      }
      if (pod.phase == Phase::succeeded) {
        if (indexed()) {
          indexes_.add(pod.index);
        } else if (!uncounted_succeeded_.contains(pod.uid)) {
          ++succeeded_;
        }
      } else if (failed(pod) && !ignored(pod)) {
        ++failed_;
      }
    }
    if (indexed()) {
      succeeded_ = indexes_.count();
    }
  }

  // Whose finalizer is gone has nothing left that could be counted twice.
  void settle_uncounted() {
    std::set<std::string_view> held;
    for (const PodDigest& pod : pods_) {
      if (pod.tracked) {
        held.insert(pod.uid);
      }
    }
    const auto settle = [&](std::vector<std::string>& uids, std::int32_t& counter) {
      counter += static_cast<std::int32_t>(
          std::erase_if(uids, [&](const std::string& uid) { return !held.contains(uid); }));
    };
    settle(status_.uncounted_terminated_pods->succeeded, status_.succeeded);
    settle(status_.uncounted_terminated_pods->failed, status_.failed);
  }

  std::optional<Finish> end_of_job() {
    if (const Condition* met = find_true("SuccessCriteriaMet")) {
      return Finish{true, met->reason, met->message};
    }
    if (const Condition* target = find_true("FailureTarget")) {
      return Finish{false, target->reason, target->message};
    }
    if (const std::string_view field = unsupported(); !field.empty()) {
      return Finish{false, "UnsupportedField",
                    "spec." + std::string(field) + " is not supported by this Job controller"};
    }
    for (const PodDigest& pod : pods_) {
      if (failed(pod)) {
        PodFailurePolicy::Verdict verdict = policy_.verdict_on(pod, job_.metadata.ns);
        if (verdict.action == PodFailurePolicy::Action::fail_job) {
          return Finish{false, "PodFailurePolicy", std::move(verdict.message)};
        }
      }
    }
    if (failed_ > backoff_limit() || restarted_too_often()) {
      return Finish{false, "BackoffLimitExceeded", "Job has reached the specified backoff limit"};
    }
    if (job_.spec.active_deadline_seconds && status_.start_time && !suspended()) {
      const Duration left =
          *status_.start_time + seconds(*job_.spec.active_deadline_seconds) - now_;
      if (left <= Duration::zero()) {
        return Finish{false, "DeadlineExceeded", "Job was active longer than specified deadline"};
      }
      look_again(left);
    }
    return std::nullopt;
  }

  const Condition* find_true(std::string_view type) const {
    return model::is_condition_true(status_.conditions, type)
               ? model::find_condition(status_.conditions, type)
               : nullptr;
  }

  std::string_view unsupported() const {
    return !job_.spec.success_policy.empty()   ? "successPolicy"
           : job_.spec.backoff_limit_per_index ? "backoffLimitPerIndex"
                                               : "";
  }

  bool restarted_too_often() const {
    if (job_.spec.pod_template.spec.restart_policy != "OnFailure") {
      return false;
    }
    std::int64_t restarts = 0;
    for (const PodDigest& pod : pods_) {
      restarts += pod.over() ? 0 : pod.restarts;
    }
    return restarts > 0 && restarts >= backoff_limit();
  }

  // The active ones are removed; counted as failed unless the Job has succeeded.
  void stop_all() {
    for (const PodDigest& pod : pods_) {
      if (pod.active()) {
        desired_.stop.push_back(pod);
      }
    }
    terminating_ += active_;
    active_ = 0;
    ready_ = 0;
  }

  void manage() {
    const std::int64_t want = wanted();
    if (give_up(static_cast<std::int64_t>(active_) - want)) {
      return;  // either fewer or more in one go
    }
    std::int64_t missing = want - active_ - (replaces_failed_only() ? terminating_ : 0);
    if (missing <= 0) {
      return;
    }
    if (const Duration wait = backoff_left(); wait > Duration::zero()) {
      look_again(wait);
      return;
    }
    missing = std::min(missing, static_cast<std::int64_t>(kPodsPerLookMax));
    if (indexed()) {
      desired_.create = free_indexes(static_cast<std::size_t>(missing));
    } else {
      desired_.create.assign(static_cast<std::size_t>(missing), -1);
    }
    active_ += static_cast<std::int32_t>(desired_.create.size());
  }

  std::int64_t wanted() const {
    if (suspended()) {
      return 0;
    }
    if (!job_.spec.completions) {
      // The first success ends it; what still runs may finish.
      return succeeded_ > 0 ? active_ : parallelism();
    }
    return std::clamp(completions() - succeeded_, std::int64_t{0}, parallelism());
  }

  // Removes at least `surplus` active pods, those first that have come least far, and all that
  // share an index or have none of use. False when there was nothing to remove.
  bool give_up(std::int64_t surplus) {
    std::vector<PodDigest> keep;
    std::set<std::int64_t> seen;
    for (const PodDigest& pod : by_progress()) {
      if (indexed() && (!counts(pod) || !seen.insert(pod.index).second)) {
        desired_.give_up.push_back(pod);
      } else {
        keep.push_back(pod);
      }
    }
    while (static_cast<std::int64_t>(desired_.give_up.size()) < surplus) {
      desired_.give_up.push_back(keep.back());
      keep.pop_back();
    }
    if (!suspended() && desired_.give_up.size() > kPodsPerLookMax) {
      desired_.give_up.resize(kPodsPerLookMax);
    }
    for (const PodDigest& pod : desired_.give_up) {
      --active_;
      ++terminating_;
      ready_ -= pod.ready;
    }
    return !desired_.give_up.empty();
  }

  // Active pods, the one that is furthest first.
  std::vector<PodDigest> by_progress() const {
    std::vector<PodDigest> active;
    std::ranges::copy_if(pods_, std::back_inserter(active), &PodDigest::active);
    std::ranges::sort(active, [](const PodDigest& a, const PodDigest& b) {
      return std::tie(b.bound, b.phase, b.ready, a.created, a.name) <
             std::tie(a.bound, a.phase, a.ready, b.created, b.name);
    });
    return active;
  }

  std::vector<std::int64_t> free_indexes(std::size_t most) const {
    IndexSet taken = indexes_;
    for (const PodDigest& pod : pods_) {
      if (pod.index >= 0 && (pod.active() || (replaces_failed_only() && pod.terminating()))) {
        taken.add(pod.index);
      }
    }
    return taken.first_missing(most, completions());
  }

  // From the pods that are still there, so that it survives a restart of this process.
  Duration backoff_left() const {
    WallTime last_success{};
    for (const PodDigest& pod : pods_) {
      if (pod.phase == Phase::succeeded) {
        last_success = std::max(last_success, pod.ended);
      }
    }
    std::int64_t failures = 0;
    WallTime last_failure{};
    for (const PodDigest& pod : pods_) {
      if (failed(pod) && counts(pod) && pod.ended > last_success) {
        ++failures;
        last_failure = std::max(last_failure, pod.ended);
      }
    }
    return failures == 0 ? Duration::zero() : last_failure + failure_backoff(failures) - now_;
  }

  bool complete() const {
    return active_ == 0 && (job_.spec.completions ? succeeded_ >= completions() : succeeded_ > 0);
  }

  void note_suspension() {
    if (suspended()) {
      if (set_condition("Suspended", "True", "JobSuspended", "Job suspended")) {
        desired_.events.push_back({false, "Suspended", "Job suspended"});
      }
    } else if (set_condition("Suspended", "False", "JobResumed", "Job resumed")) {
      desired_.events.push_back({false, "Resumed", "Job resumed"});
      // The deadline counts the time that a Job is active without a break.
      status_.start_time = now_;
    }
  }

  // From nothing to False does not count as a change.
  bool set_condition(std::string_view type, std::string_view state, std::string_view reason,
                     std::string_view message) {
    Condition wanted{.type = std::string(type),
                     .status = std::string(state),
                     .reason = std::string(reason),
                     .message = std::string(message),
                     .last_transition_time = now_,
                     .last_probe_time = now_};
    Condition* known = model::find_condition(status_.conditions, type);
    if (known == nullptr) {
      if (state == "False") {
        return false;
      }
      status_.conditions.push_back(std::move(wanted));
      return true;
    }
    if (known->status == state && known->reason == reason && known->message == message) {
      return false;
    }
    *known = std::move(wanted);
    return true;
  }

  // Puts ended pods into the status and their finalizers up for removal. False when there were more
  // than fit.
  bool count_ended() {
    auto& uncounted = *status_.uncounted_terminated_pods;
    std::size_t fresh = 0;
    for (const PodDigest& pod : pods_) {
      if (!pod.tracked || !(finish_ || pod.phase == Phase::succeeded || failed(pod))) {
        continue;
      }
      if (fresh + uncounted.succeeded.size() + uncounted.failed.size() >= kUncountedMax) {
        return false;
      }
      desired_.release.push_back(pod);
      if (uncounted_failed_.contains(pod.uid) || uncounted_succeeded_.contains(pod.uid)) {
        continue;
      }
      if (pod.phase == Phase::succeeded) {
        if (!indexed()) {
          uncounted.succeeded.push_back(pod.uid);
        } else {
          ++fresh;  // its index is enough
        }
      } else if ((failed(pod) || !finish_->success) && counts(pod) && !ignored(pod)) {
        uncounted.failed.push_back(pod.uid);
      }
    }
    if (indexed()) {
      status_.completed_indexes = indexes_.to_string();
      status_.succeeded = static_cast<std::int32_t>(succeeded_);
    }
    return true;
  }

  // The result is announced only when there is something to wait for. Kubernetes since 1.31 always
  // does; those who compare the conditions as a whole, MCAD's tests among them, know the end
  // alone.
  void write_finish(bool all_counted) {
    if (!all_counted || terminating_ > 0) {
      set_condition(finish_->success ? "SuccessCriteriaMet" : "FailureTarget", "True",
                    finish_->reason, finish_->message);
      return;
    }
    auto& uncounted = *status_.uncounted_terminated_pods;
    status_.succeeded += static_cast<std::int32_t>(uncounted.succeeded.size());
    status_.failed += static_cast<std::int32_t>(uncounted.failed.size());
    uncounted.succeeded.clear();
    uncounted.failed.clear();
    set_condition(finish_->success ? "Complete" : "Failed", "True", finish_->reason,
                  finish_->message);
    if (finish_->success) {
      status_.completion_time = now_;
      desired_.events.push_back({false, "Completed", "Job completed"});
    } else {
      desired_.events.push_back({true, finish_->reason, finish_->message});
    }
  }

  void wait_with_ready_counts() {
    JobStatus but_ready = status_;
    but_ready.ready = job_.status.ready;
    if (status_.ready == job_.status.ready || !job_.status.ready || !(but_ready == job_.status)) {
      return;
    }
    WallTime latest{};
    for (const PodDigest& pod : pods_) {
      latest = std::max(latest, pod.ready_since);
    }
    if (latest + kReadyTold > now_) {
      status_.ready = job_.status.ready;
      look_again(latest + kReadyTold - now_);
    }
  }

  const Job& job_;
  PodFailurePolicy policy_;  // empty: each failure counts
  std::vector<PodDigest> pods_;
  WallTime now_;
  JobStatus status_;
  Desired desired_;
  std::set<std::string, std::less<>> uncounted_succeeded_;
  std::set<std::string, std::less<>> uncounted_failed_;
  std::int64_t succeeded_ = 0;
  std::int64_t failed_ = 0;
  IndexSet indexes_;
  std::int32_t active_ = 0;
  std::int32_t ready_ = 0;
  std::int32_t terminating_ = 0;
  std::optional<Finish> finish_;
};

void release_tracked(const std::vector<PodDigest>& pods, Desired& desired) {
  std::ranges::copy_if(pods, std::back_inserter(desired.release), &PodDigest::tracked);
}

const Condition* terminal_condition(const JobStatus& status) {
  for (std::string_view type : {"Complete", "Failed"}) {
    if (model::is_condition_true(status.conditions, type)) {
      return model::find_condition(status.conditions, type);
    }
  }
  return nullptr;
}

void expire(const Job& job, const Condition& end, WallTime now, Desired& desired) {
  if (!job.spec.ttl_seconds_after_finished || !end.last_transition_time) {
    return;
  }
  const Duration left =
      *end.last_transition_time + seconds(*job.spec.ttl_seconds_after_finished) - now;
  if (left <= Duration::zero()) {
    desired.expired = true;
  } else {
    desired.look_again = left;
  }
}

}  // namespace

Duration failure_backoff(std::int64_t failures) {
  Duration wait = kBackoffFirst;
  for (std::int64_t i = 1; i < failures && wait < kBackoffMax; ++i) {
    wait *= 2;
  }
  return std::min(wait, kBackoffMax);
}

Desired decide(const Observed& observed, WallTime now) {
  Desired desired;
  if (!observed.job) {
    release_tracked(observed.pods, desired);
    return desired;
  }
  const Job& job = *observed.job;
  if (job.spec.managed_by && *job.spec.managed_by != kController) {
    return desired;
  }
  // Pods of an earlier Job of this name, or that nobody controls, are nobody's to count.
  std::vector<PodDigest> mine;
  std::vector<PodDigest> others;
  std::ranges::partition_copy(
      observed.pods, std::back_inserter(mine), std::back_inserter(others),
      [&](const PodDigest& pod) { return pod.owner_uid == job.metadata.uid; });
  const Condition* end = terminal_condition(job.status);
  if (job.metadata.deleting() || end != nullptr) {
    release_tracked(mine, desired);
    if (end != nullptr && !job.metadata.deleting()) {
      expire(job, *end, now, desired);
    }
  } else {
    desired = Decision(job, std::move(mine), now).take();
  }
  release_tracked(others, desired);
  return desired;
}

}  // namespace codeflare::controllers::job
