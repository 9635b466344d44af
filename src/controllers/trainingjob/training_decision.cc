#include "controllers/trainingjob/training_decision.h"

#include "controllers/trainingjob/names.h"
#include "controllers/trainingjob/training_plan.h"
#include "elastic/membership.h"
#include "model/condition.h"
#include "queue/status_words.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <utility>

namespace codeflare::controllers::trainingjob {

namespace {

using model::TrainingJobStatus;
using queue::Standing;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kNotReadyMax = minutes(5);
constexpr Duration kNodeLost = seconds(30);
// Workers that cannot start are given up after that, and tried again after the pause.
constexpr Duration kStuckMax = minutes(1);
constexpr Duration kGrowthPause = minutes(5);
// An item that goes before its AppWrapper has seen the end counts as lost.
constexpr Duration kSeenByWrapper = minutes(1);
constexpr Duration kCooldownMin = seconds(30);
constexpr Duration kCooldownMax = minutes(30);
constexpr std::int32_t kBackoffLimit = 6;
constexpr std::int64_t kFirstSignalCode = 128;
constexpr std::int64_t kAgentLeft = 3;  // an agent that had to go
// Condition of a job whose last save failed; its time tells since when.
constexpr const char* kUnsaved = "Unsaved";
// A Lease that is not renewed any more wakes nobody.
constexpr Duration kLeaseLook = seconds(5);

// A pod's reasons that say nothing about the program in it.
constexpr std::array<std::string_view, 8> kInfrastructure = {
    "Evicted",    "NodeLost",     "NodeShutdown", "Terminated",
    "Preempting", "NodeAffinity", "OutOfcpu",     "UnexpectedAdmissionError",
};

// Why a container waits, if waiting does not help.
constexpr std::array<std::string_view, 8> kStuck = {
    "ImagePullBackOff",           "ErrImagePull",         "InvalidImageName",  "ErrImageNeverPull",
    "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CrashLoopBackOff",
};

bool is_stranded(const WorkerPod& pod) {
  return pod.stranded && *pod.stranded >= kNodeLost && !pod.over();
}

bool is_infrastructure(const WorkerPod& pod) {
  return std::ranges::find(kInfrastructure, pod.reason) != kInfrastructure.end() ||
         pod.exit_code == 0;
}

std::string failure_text(const WorkerPod& pod) {
  std::string text = "worker " + std::to_string(pod.index) + " failed";
  if (pod.exit_code != 0) {
    text += ": exit code " + std::to_string(pod.exit_code);
  }
  if (!pod.reason.empty() && pod.reason != "Error") {
    text += (pod.exit_code != 0 ? " (" + pod.reason + ")" : ": " + pod.reason);
  }
  if (!pod.message.empty()) {
    std::string last = pod.message;
    while (!last.empty() && last.back() == '\n') {
      last.pop_back();
    }
    if (const std::size_t line = last.rfind('\n'); line != std::string::npos) {
      last.erase(0, line + 1);
    }
    text += ": " + last.substr(0, 200);
  }
  return text;
}

Duration cooldown(std::int64_t requeues) {
  Duration pause = kCooldownMin;
  for (std::int64_t i = 0; i < requeues && pause < kCooldownMax; ++i) {
    pause *= 2;
  }
  return std::min(pause, kCooldownMax);
}

class Decision {
 public:
  Decision(const Observed& observed, WallTime now)
      : observed_(observed),
        job_(observed.job),
        now_(std::chrono::floor<seconds>(now)),
        status_(observed.job.status) {}

  Desired run() {
    if (!queue::is_ours(job_) || job_.metadata.deleting()) {
      return {};
    }
    status_.selector = std::string(kJobLabel) + "=" + job_.metadata.name;
    status_.observed_generation = job_.metadata.generation;
    if (!status_.submit_time) {
      status_.submit_time = now_;
    }
    if (queue::is_finished(status_)) {
      finished();
    } else {
      count_failures();
      go_on();
    }
    if (status_ != job_.status) {
      desired_.status = std::move(status_);
    }
    return std::move(desired_);
  }

 private:
  // --- the end ---

  void complete(bool succeeded, std::string reason, std::string message) {
    status_.stage = stage::kCompleted;
    status_.completion_time = now_;
    status_.reason = std::move(reason);
    status_.message = std::move(message);
    status_.membership = next_membership(status_.membership, {}, Course::finish);
    set_condition(succeeded ? "Succeeded" : "Failed", true);
    set_condition("Running", false);
    set_condition(kUnsaved, false);
    note(!succeeded, succeeded ? "Completed" : "Failed", status_.message);
    desired_.stop = true;
    finished();
  }

  void finished() {
    const std::string& policy = job_.spec.run_policy.clean_pod_policy;
    for (const WorkerPod& pod : observed_.pods) {
      const bool kept = policy == "None" || (policy == "Running" && pod.over());
      if (!pod.deleting && !kept) {
        desired_.remove.push_back(pod);
      }
    }
    const bool holding =
        std::ranges::any_of(observed_.pods, [](const WorkerPod& pod) { return !pod.over(); });
    if (holding && policy != "None") {
      return;  // places are free when their pods are gone
    }
    status_.plan.reset();
    status_.current_size = status_.ready_size = 0;
    status_.counted_pods.clear();
    desired_.over = true;
    expire();
  }

  void expire() {
    const auto& ttl = job_.spec.run_policy.ttl_seconds_after_finished;
    if (!ttl || !status_.completion_time) {
      return;
    }
    Duration kept = seconds(std::max<std::int64_t>(0, *ttl));
    if (observed_.wrapped) {
      kept = std::max(kept, kSeenByWrapper);
    }
    const WallTime end = *status_.completion_time + kept;
    if (end <= now_) {
      desired_.expired = true;
    } else {
      look_again(end - now_);
    }
  }

  // --- failures ---

  void count_failures() {
    std::set<std::string> counted;
    for (const WorkerPod& pod : observed_.pods) {
      const bool known =
          std::ranges::find(status_.counted_pods, pod.uid) != status_.counted_pods.end();
      if (known) {
        counted.insert(pod.uid);
      }
      const bool stranded = is_stranded(pod);
      if ((pod.phase != Phase::failed && !stranded) || known || pod.deleting) {
        continue;
      }
      counted.insert(pod.uid);
      if (is_member(pod)) {
        continue;  // the next membership counts it
      }
      const bool left =
          observed_.agents && (pod.exit_code == kAgentLeft || pod.exit_code >= kFirstSignalCode);
      const bool user = !stranded && !is_infrastructure(pod) && !left;
      ++(user ? status_.restart_counts.user : status_.restart_counts.infra);
      last_failure_ = stranded ? stranded_text(pod) : failure_text(pod);
      permanent_ = permanent_ || (user && is_permanent(pod));
      note(true, user ? "WorkerFailed" : "WorkerLost", last_failure_);
    }
    status_.counted_pods.clear();
    for (const std::string& uid : counted) {
      status_.counted_pods.push_back(uid);
    }
  }

  static std::string stranded_text(const WorkerPod& pod) {
    return "worker " + std::to_string(pod.index) + " is lost: node " + pod.node +
           " is not ready for 30 s";
  }

  // Of a job with agents.
  bool is_member(const WorkerPod& pod) const {
    return observed_.agents && status_.membership &&
           std::ranges::find(status_.membership->members, pod.uid, &model::TrainingMember::pod) !=
               status_.membership->members.end();
  }

  bool is_permanent(const WorkerPod& pod) const { return is_permanent(pod.exit_code); }
  bool is_permanent(std::int64_t exit_code) const {
    return job_.spec.replica_specs.restart_policy == "ExitCode" && exit_code < kFirstSignalCode;
  }

  // --- before the end ---

  // True: it failed too often and is complete.
  bool end_if_hopeless() {
    const std::int64_t limit = job_.spec.run_policy.backoff_limit.value_or(kBackoffLimit);
    if (permanent_) {
      complete(false, "PermanentExitCode", last_failure_);
      return true;
    }
    if (status_.restart_counts.user > limit) {
      complete(false, "BackoffLimitExceeded",
               "the program failed " + std::to_string(status_.restart_counts.user) +
                   " times, backoffLimit is " + std::to_string(limit) +
                   (last_failure_.empty() ? "" : "; " + last_failure_));
      return true;
    }
    return false;
  }

  void go_on() {
    if (end_if_hopeless()) {
      return;
    }
    if (deadline_over()) {
      return complete(false, "DeadlineExceeded",
                      "ran longer than activeDeadlineSeconds " +
                          std::to_string(*job_.spec.run_policy.active_deadline_seconds));
    }
    if (!observed_.problems.empty() && !status_.plan) {
      return wrong_configuration();
    }
    if (observed_.wrapped && observed_.standing.kind != Standing::Kind::started) {
      return;  // the AppWrapper's controller deletes it
    }
    switch (observed_.standing.kind) {
      case Standing::Kind::unknown:
        return;
      case Standing::Kind::waiting:
        return wait();
      case Standing::Kind::started:
        return train();
      case Standing::Kind::stopping:
        return stop(std::string(queue::word(observed_.standing.reason)),
                    observed_.standing.message);
    }
  }

  bool deadline_over() {
    const auto& limit = job_.spec.run_policy.active_deadline_seconds;
    if (!limit || !status_.start_time || !status_.plan) {
      return false;
    }
    const WallTime end = *status_.start_time + seconds(*limit);
    if (end > now_) {
      look_again(end - now_);
    }
    return end <= now_;
  }

  void wrong_configuration() {
    std::string text;
    for (const std::string& problem : observed_.problems) {
      text += (text.empty() ? "" : " | ") + problem;
    }
    if (status_.stage != stage::kWrongConfiguration) {
      note(true, "WrongConfiguration", text);
    }
    status_.stage = stage::kWrongConfiguration;
    status_.reason = stage::kWrongConfiguration;
    status_.message = text;
  }

  void wait() {
    if (status_.plan) {
      return stop("", "");  // written before the queue let it go
    }
    const bool suspended = job_.spec.run_policy.suspend;
    const bool cooling = observed_.standing.reason == queue::Reason::retry_later;
    status_.stage = suspended ? stage::kSuspended
                    : cooling ? stage::kRequeueCooldown
                              : stage::kWaiting;
    status_.reason = queue::word(observed_.standing.reason);
    status_.message = observed_.sentence;
    status_.current_size = status_.ready_size = 0;
    if (!status_.queued_time) {
      status_.queued_time = now_;
    }
    if (!cooling) {
      status_.cooldown_time.reset();
    }
    set_condition("Suspended", suspended);
    remove_all();
  }

  void stop(const std::string& reason, const std::string& message) {
    status_.membership = next_membership(status_.membership, {}, Course::pause);
    if (!message.empty()) {
      status_.reason = reason;
      status_.message = message;
    }
    remove_all();
    desired_.stop = true;
    if (!observed_.pods.empty()) {
      return;
    }
    status_.plan.reset();
    status_.start_time.reset();
    status_.not_ready_since.reset();
    status_.current_size = status_.ready_size = 0;
    status_.stage = job_.spec.run_policy.suspend ? stage::kSuspended
                    : status_.cooldown_time      ? stage::kRequeueCooldown
                                                 : stage::kWaiting;
    set_condition("Running", false);
    desired_.withdrawn = true;
  }

  void remove_all() {
    for (const WorkerPod& pod : observed_.pods) {
      if (!pod.deleting) {
        desired_.remove.push_back(pod);
      }
    }
  }

  // --- running ---

  void train() {
    desired_.create_service = !observed_.has_service;
    const std::int64_t before = status_.current_size;
    status_.plan =
        next_plan(status_.plan, observed_.standing.plan, observed_.pods, observed_.keeps_first);
    if (!status_.plan->since) {
      status_.plan->since = model::MicroTime{observed_.standing.since.value_or(now_)};
    }
    if (!status_.start_time) {
      status_.start_time = now_;
      note(false, "Started", "starts with " + pods_text(size()));
    }
    status_.last_exec_time = status_.start_time;
    if (observed_.agents) {
      if (!follow_agents()) {
        return;
      }
    } else if (all_succeeded()) {
      return complete(true, "Succeeded", "all " + std::to_string(size()) + " workers succeeded");
    }
    follow_plan();
    abandon_stranded();
    tell_size(before);
    fall_back();
    review_readiness();
  }

  // The name of a worker and its place are free only when its pod is gone, and no kubelet answers.
  void abandon_stranded() {
    for (const WorkerPod& pod : observed_.pods) {
      if (!pod.stranded || pod.over()) {
        continue;
      }
      if (!is_stranded(pod)) {
        look_again(kNodeLost - *pod.stranded);
      } else if (!observed_.agents || !is_member(pod)) {
        std::erase_if(desired_.remove, [&](const WorkerPod& each) { return each.uid == pod.uid; });
        desired_.abandon.push_back(pod);
      }
    }
  }

  // The workers that train stay; those that cannot start go, and are tried again after a pause.
  void fall_back() {
    const auto trains = static_cast<std::int64_t>(
        status_.membership ? status_.membership->members.size() : std::size_t{0});
    if (trains < queue::sizes_of(job_.spec).min || trains >= size()) {
      return set_condition("GrowthFailed", false);
    }
    if (is_pausing_growth()) {
      return remove_beyond_members();
    }
    set_condition("GrowthFailed", false);
    for (const WorkerPod& pod : observed_.pods) {
      if (!pod.alive() || pod.ready || std::ranges::find(kStuck, pod.reason) == kStuck.end()) {
        continue;
      }
      const WallTime end = pod.created + kStuckMax;
      if (end > now_) {
        look_again(end - now_);
        continue;
      }
      note(true, "GrowthFailed",
           "worker " + std::to_string(pod.index) + " cannot start: " + pod.reason +
               (pod.message.empty() ? "" : ": " + pod.message.substr(0, 200)) + "; stays at " +
               pods_text(trains) + " for 5 minutes");
      set_condition("GrowthFailed", true);
      return remove_beyond_members();
    }
  }

  bool is_pausing_growth() {
    const auto at = std::ranges::find(status_.conditions, "GrowthFailed", &model::Condition::type);
    if (at == status_.conditions.end() || at->status != "True" || !at->last_transition_time) {
      return false;
    }
    const WallTime end = *at->last_transition_time + kGrowthPause;
    if (end > now_) {
      look_again(end - now_);
    }
    return end > now_;
  }

  void remove_beyond_members() {
    status_.message += "; growth failed, tried again later";
    desired_.create.clear();
    for (const WorkerPod& pod : observed_.pods) {
      const bool trains =
          std::ranges::find(status_.membership->members, pod.uid, &model::TrainingMember::pod) !=
          status_.membership->members.end();
      const bool removed =
          std::ranges::find(desired_.remove, pod.uid, &WorkerPod::uid) != desired_.remove.end();
      if (!trains && !removed && !pod.deleting) {
        desired_.remove.push_back(pod);
      }
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(status_.plan->places.size()); }

  static std::string pods_text(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " worker" : " workers");
  }

  const WorkerPod* pod_of(std::int64_t index) const {
    const WorkerPod* found = nullptr;
    for (const WorkerPod& pod : observed_.pods) {
      if (pod.index == index) {
        found = &pod;
      }
    }
    return found;
  }

  bool any_succeeded() const {
    return std::ranges::any_of(observed_.pods, [](const WorkerPod& pod) {
      return pod.phase == Phase::succeeded && !pod.deleting;
    });
  }

  // Places that came while workers already ended are not waited for.
  bool all_succeeded() const {
    bool any = false;
    for (const model::TrainingPlace& place : status_.plan->places) {
      const WorkerPod* pod = pod_of(place.index);
      if (pod == nullptr) {
        continue;
      }
      if (pod->phase != Phase::succeeded) {
        return false;
      }
      any = true;
    }
    return any;
  }

  void follow_plan() {
    std::set<std::int64_t> planned;
    std::vector<MemberFacts> members;
    std::int64_t ready = 0;
    const bool ending = !observed_.agents && any_succeeded();
    for (const model::TrainingPlace& place : status_.plan->places) {
      planned.insert(place.index);
      const WorkerPod* pod = pod_of(place.index);
      if (pod == nullptr) {
        if (!ending) {
          desired_.create.push_back(place.index);
        }
        continue;
      }
      const bool is_ready = pod->alive() && pod->ready && has_registered(*pod);
      ready += is_ready || pod->phase == Phase::succeeded ? 1 : 0;
      members.push_back({place.index, pod->uid, is_ready || pod->phase == Phase::succeeded});
    }
    for (const WorkerPod& pod : observed_.pods) {
      const bool failed = pod.phase == Phase::failed || (observed_.agents && pod.over());
      const bool needed = is_member(pod) && !observed_.agents->lost.contains(pod.uid);
      if (!pod.deleting && (failed || (!planned.contains(pod.index) && !needed))) {
        desired_.remove.push_back(pod);
      }
    }
    if (!observed_.agents) {
      status_.membership = next_membership(status_.membership, members, Course::train);
    }
    status_.current_size = size();
    status_.ready_size = ready;
  }

  // --- agents ---

  bool has_registered(const WorkerPod& pod) const {
    if (!observed_.agents) {
      return true;
    }
    const elastic::Member* member = observed_.agents->member_of(pod.uid);
    return member != nullptr && member->state != elastic::MemberState::starting;
  }

  // A node that does not answer may still train. Its saves do not count once a newer group has
  // saved, so that its group is replaced without its word.
  bool is_fenced() const {
    return observed_.fenced && std::ranges::any_of(observed_.pods, [this](const WorkerPod& pod) {
             return is_stranded(pod) && is_member(pod);
           });
  }

  // False: the job is complete.
  bool follow_agents() {
    const AgentWord& word = *observed_.agents;
    std::set<std::int64_t> planned;
    for (const model::TrainingPlace& place : status_.plan->places) {
      planned.insert(place.index);
      if (!word.leases.contains(place.index)) {
        desired_.create_leases.push_back(place.index);
      }
    }
    desired_.create_round = !word.has_round_lease;
    if (!observed_.rendezvous_problem.empty()) {
      return true;  // workers train on as they are
    }
    const elastic::MembershipDecision decision =
        agent_membership(job_, status_, planned, observed_.pods, word, is_fenced(), now_);
    if (decision.next) {
      note_failures(decision, word);
      status_.membership = to_status(*decision.next);
    }
    review_saving(word);
    if (word.progress_due || decision.next) {
      if (std::optional<model::TrainingProgress> progress =
              progress_of(decision.next ? job_.status.membership : status_.membership, word,
                          status_.progress)) {
        status_.progress = std::move(progress);
      }
    }
    if (decision.next && decision.next->reason == elastic::reason::kFinish) {
      complete(true, "Succeeded", "all " + std::to_string(size()) + " workers are done");
      return false;
    }
    if (decision.look_again) {
      look_again(std::max<Duration>(*decision.look_again - now_, seconds(1)));
    }
    look_again(kLeaseLook);
    return !end_if_hopeless();
  }

  // Saved again means that a newer step is saved than before, whoever saves by then: a member that
  // has not tried yet proves nothing.
  void review_saving(const AgentWord& word) {
    const Saving saving = saving_of(job_.status.membership, word);
    const bool known = unsaved() != nullptr;
    const std::int64_t before =
        job_.status.progress ? job_.status.progress->saved_step.value_or(0) : 0;
    if (!saving.problem.empty() && !known) {
      note(true, kUnsaved, saving.problem + "; training continues");
    }
    if (!saving.problem.empty() && (!known || word.progress_due)) {
      set_condition(kUnsaved, true, saving.problem);
    } else if (saving.problem.empty() && known && saving.step > before) {
      note(false, "Saved", "saved again at step " + std::to_string(saving.step));
      set_condition(kUnsaved, false);
    }
  }

  const model::Condition* unsaved() const {
    const auto at = std::ranges::find(status_.conditions, kUnsaved, &model::Condition::type);
    return at == status_.conditions.end() || at->status != "True" ? nullptr : &*at;
  }

  void note_failures(const elastic::MembershipDecision& decision, const AgentWord& word) {
    status_.restart_counts.user += decision.counted.user;
    status_.restart_counts.infra += decision.counted.infrastructure;
    if (decision.counted.user + decision.counted.infrastructure == 0) {
      return;
    }
    last_failure_ = decision.message.substr(0, decision.message.rfind("; "));
    for (const model::TrainingMember& ref : status_.membership->members) {
      const elastic::Member* member = word.member_of(ref.pod);
      if (decision.counted.user > 0 && member != nullptr &&
          member->state == elastic::MemberState::failed &&
          member->exit_class == elastic::ExitClass::user) {
        last_failure_ = "worker " + std::to_string(ref.index) + " failed: exit code " +
                        std::to_string(member->exit_code) +
                        (member->message.empty() ? "" : ": " + member->message);
        permanent_ = permanent_ || is_permanent(member->exit_code);
      }
    }
    note(true, decision.counted.user > 0 ? "WorkerFailed" : "WorkerLost", last_failure_);
  }

  void tell_size(std::int64_t before) {
    const std::string& whom = observed_.standing.shrinks_for;
    if (status_.stage == stage::kRunning && before != size()) {
      ++status_.restart_counts.scaling;
      note(false, size() > before ? "ScaledUp" : "ScaledDown",
           "from " + std::to_string(before) + " to " + pods_text(size()) +
               (whom.empty() ? "" : " for " + whom));
    }
    const std::int64_t least = queue::sizes_of(job_.spec).min;
    status_.stage = stage::kRunning;
    status_.queued_time.reset();
    status_.cooldown_time.reset();
    status_.reason = status_.ready_size < least ? "PodsNotReady" : "";
    status_.message = std::to_string(status_.ready_size) + " of " + pods_text(size()) + " ready";
    if (!whom.empty()) {
      status_.message += "; shrinks for " + whom;
    }
    if (!observed_.rendezvous_problem.empty()) {
      status_.message += "; not resized: " + observed_.rendezvous_problem;
    }
    if (const model::Condition* failing = unsaved()) {
      status_.message += "; not saved since " +
                         to_rfc3339(failing->last_transition_time.value_or(now_)) + ": " +
                         failing->message;
    }
    if (observed_.wrapped && job_.spec.run_policy.suspend) {
      status_.message += "; runPolicy.suspend is ignored, set spec.suspend of the AppWrapper";
    }
    if (!observed_.problems.empty()) {
      status_.message += "; the new spec is ignored: " + observed_.problems.front();
    }
    add_trouble();
    set_condition("Running", true);
    set_condition("Suspended", false);
  }

  // Why a worker is not ready, in its container's words.
  void add_trouble() {
    if (!last_failure_.empty()) {
      status_.message += "; " + last_failure_;
      return;
    }
    for (const WorkerPod& pod : observed_.pods) {
      if (pod.alive() && !pod.ready && !pod.reason.empty() && pod.reason != "ContainerCreating") {
        status_.message += "; worker " + std::to_string(pod.index) + ": " + pod.reason +
                           (pod.message.empty() ? "" : ": " + pod.message.substr(0, 200));
        return;
      }
    }
  }

  void review_readiness() {
    if (status_.ready_size >= std::min(size(), queue::sizes_of(job_.spec).min) && size() > 0) {
      status_.not_ready_since.reset();
      status_.requeues = 0;
      return;
    }
    if (!status_.not_ready_since) {
      status_.not_ready_since = now_;
    }
    if (observed_.wrapped) {
      return;
    }
    const WallTime end = *status_.not_ready_since + kNotReadyMax;
    if (end > now_) {
      look_again(end - now_);
      return;
    }
    const Duration pause = cooldown(status_.requeues++);
    status_.cooldown_time = now_ + std::chrono::duration_cast<seconds>(pause);
    note(true, "RequeueCooldown", "workers were not ready for 5 minutes: " + status_.message);
    desired_.create.clear();
    desired_.remove.clear();
    stop("PodsNotReady", status_.message);
  }

  // --- words ---

  void set_condition(const std::string& type, bool holds, std::string message = {}) {
    const bool known = std::ranges::find(status_.conditions, type, &model::Condition::type) !=
                       status_.conditions.end();
    if (!holds && !known) {
      return;
    }
    model::set_condition(status_.conditions,
                         {.type = type,
                          .status = holds ? "True" : "False",
                          .reason = "TrainingJob" + type,
                          .message = std::move(message),
                          .observed_generation = job_.metadata.generation},
                         now_);
  }

  void note(bool warning, std::string reason, std::string message) {
    desired_.events.push_back({warning, std::move(reason), std::move(message)});
  }

  void look_again(Duration after) {
    desired_.look_again = desired_.look_again ? std::min(*desired_.look_again, after) : after;
  }

  const Observed& observed_;
  const model::TrainingJob& job_;
  WallTime now_;
  TrainingJobStatus status_;
  Desired desired_;
  std::string last_failure_;
  bool permanent_ = false;
};

}  // namespace

Desired decide(const Observed& observed, WallTime now) {
  return Decision(observed, now).run();
}

}  // namespace codeflare::controllers::trainingjob
