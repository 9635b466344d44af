#include "controllers/run/run_status.h"

#include "controllers/run/run_decision.h"
#include "model/condition.h"
#include "queue/status_words.h"

#include <algorithm>
#include <utility>

namespace codeflare::controllers::runs {

namespace {

namespace phase = model::run_phase;
namespace state = model::app_wrapper_state;

const model::AppWrapperCondition* newest(const model::AppWrapperStatus& status,
                                         std::string_view type) {
  const auto found =
      std::find_if(status.conditions.rbegin(), status.conditions.rend(),
                   [&](const model::AppWrapperCondition& c) { return c.type == type; });
  return found == status.conditions.rend() ? nullptr : &*found;
}

// A pod that failed before one that waits; heads first.
const RunPod* worst(const std::vector<RunPod>& pods) {
  const auto rank = [](const RunPod& pod) {
    return pod.trouble.empty() ? 0 : (pod.phase == "Failed" ? 4 : 2) + (pod.is_head() ? 1 : 0);
  };
  const auto found = std::ranges::max_element(pods, {}, rank);
  return found == pods.end() || rank(*found) == 0 ? nullptr : &*found;
}

bool is_running(const std::vector<RunPod>& pods) {
  return std::ranges::any_of(pods, [](const RunPod& pod) {
    const bool counts = pod.role.empty() || pod.role == "submitter";
    return counts && (pod.phase == "Running" || pod.phase == "Succeeded");
  });
}

void follow_waiting(const model::AppWrapper& wrapper, WallTime now, model::RunStatus& status) {
  const model::AppWrapperCondition* queued = newest(wrapper.status, "Queued");
  if (wrapper.spec.suspend.value_or(false)) {
    set_phase(status, phase::kSuspended, std::string(queue::word(queue::Reason::held)),
              "held by spec.suspend");
  } else if (queued != nullptr && !queued->message.empty()) {
    set_phase(status, phase::kQueued, queued->reason, queued->message);
  } else {
    set_phase(status, phase::kQueued, "Queued", "");
  }
  if (model::is_condition_true(status.conditions, "Dispatched")) {
    set_condition(status, "Dispatched", "False", status.reason, status.message, now);
  }
}

void follow_dispatched(const model::AppWrapper& wrapper, const std::vector<RunPod>& pods,
                       WallTime now, model::RunStatus& status, std::optional<Duration>& again) {
  if (const auto head = std::ranges::find_if(pods, &RunPod::is_head); head != pods.end()) {
    if (is_running(pods)) {
      status.head_pod = head->name;
    }
  }
  const RunPod* bad = worst(pods);
  const std::string reason = bad == nullptr ? "" : bad->trouble;
  const std::string message = bad == nullptr ? "" : "pod " + bad->name + ": " + bad->message;
  if (is_running(pods)) {
    if (!status.start_time) {
      status.start_time = now;
    }
    set_phase(status, phase::kRunning, bad == nullptr ? "Running" : reason, message);
    set_condition(status, "Dispatched", "True", "Running", "", now);
    return;
  }
  if (status.phase == phase::kRunning && bad == nullptr) {
    return;  // between two pods
  }
  const WallTime since = wrapper.status.plan && wrapper.status.plan->started
                             ? wrapper.status.plan->started->time
                             : now;
  const Duration left = since + kStartPatience - now;
  if (bad == nullptr && left > Duration::zero() && status.phase != phase::kStarting) {
    again = left;
    return;
  }
  set_phase(status, phase::kStarting, bad == nullptr ? "Starting" : reason, message);
  set_condition(status, "Dispatched", "True", "Starting", "", now);
}

void follow_failed(const model::AppWrapper& wrapper, const std::vector<RunPod>& pods, WallTime now,
                   model::RunStatus& status) {
  if (const RunPod* bad = worst(pods)) {
    fail_run(status, bad->trouble, "pod " + bad->name + ": " + bad->message, now);
    return;
  }
  const bool known = status.phase == phase::kRunning || status.phase == phase::kStarting;
  if (known && !status.message.empty()) {
    fail_run(status, status.reason, status.message, now);  // the pods are gone by now
    return;
  }
  const model::AppWrapperCondition* why = newest(wrapper.status, "Failed");
  if (why == nullptr) {
    why = newest(wrapper.status, "PreemptCandidate");
  }
  fail_run(status, why == nullptr || why->reason.empty() ? "Failed" : why->reason,
           why == nullptr ? "AppWrapper " + wrapper.metadata.name + " is " + wrapper.status.state
                          : why->message,
           now);
}

}  // namespace

void set_phase(model::RunStatus& status, std::string_view phase, std::string reason,
               std::string message) {
  if (model::is_terminal(status)) {
    return;
  }
  status.phase = phase;
  status.reason = std::move(reason);
  status.message = std::move(message);
}

void set_condition(model::RunStatus& status, std::string type, std::string value,
                   std::string reason, std::string message, WallTime now) {
  model::Condition condition;
  condition.type = std::move(type);
  condition.status = std::move(value);
  condition.reason = std::move(reason);
  condition.message = std::move(message);
  model::set_condition(status.conditions, condition, now);
}

void fail_run(model::RunStatus& status, std::string reason, std::string message, WallTime now) {
  if (model::is_terminal(status)) {
    return;
  }
  set_phase(status, phase::kFailed, reason, message);
  set_condition(status, "Failed", "True", std::move(reason), std::move(message), now);
  status.completion_time = now;
}

void follow_wrapper(const model::AppWrapper& wrapper, const std::vector<RunPod>& pods, WallTime now,
                    model::RunStatus& status, std::optional<Duration>& again) {
  const std::string& at = wrapper.status.state;
  if (at == state::kCompleted) {
    if (!status.start_time) {
      status.start_time = now;
    }
    set_phase(status, phase::kCompleted, "Completed", "");
    set_condition(status, "Dispatched", "True", "Completed", "", now);
    set_condition(status, "Completed", "True", "Completed", "", now);
    status.completion_time = now;
  } else if (at == state::kFailed || at == state::kDeleted) {
    follow_failed(wrapper, pods, now, status);
  } else if (at == state::kRunning || at == state::kRunningHoldCompletion) {
    follow_dispatched(wrapper, pods, now, status, again);
  } else {
    follow_waiting(wrapper, now, status);
  }
}

}  // namespace codeflare::controllers::runs
