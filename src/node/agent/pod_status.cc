#include "model/condition.h"
#include "node/agent/pod_progress.h"

#include <algorithm>

namespace codeflare::node {

namespace {

using model::ContainerState;
using model::ContainerStatus;
using model::Pod;
using model::PodStatus;
using Role = ContainerProgress::Role;
using Stand = ContainerProgress::Stand;

WallTime at(std::int64_t nanoseconds) {
  return whole_seconds(WallTime(Duration(nanoseconds)));
}

std::string container_id(const Pod& pod, const RunRecord& run) {
  return "codeflare://" + pod.metadata.uid + "/" + run.name + "/" + std::to_string(run.attempt);
}

std::string reason_of(const RunRecord& run) {
  if (!run.reason.empty()) {
    return run.reason;
  }
  if (run.error == kKeeperLost) {
    return "ContainerStatusUnknown";
  }
  if (could_not_start(run)) {
    return "StartError";
  }
  return run.exit_code == 0 ? "Completed" : "Error";
}

ContainerState terminated(const Pod& pod, const RunRecord& run) {
  ContainerState state;
  // The signal is in the code alone, as with a kubelet.
  state.terminated = {.exit_code = run.exit_code,
                      .reason = reason_of(run),
                      .message = run.message.empty() ? run.error : run.message,
                      .started_at = at(run.started),
                      .finished_at = at(run.finished),
                      .container_id = container_id(pod, run)};
  return state;
}

ContainerState waiting(std::string reason, std::string message = {}) {
  ContainerState state;
  state.waiting = {.reason = std::move(reason), .message = std::move(message)};
  return state;
}

std::string back_off_text(const Pod& pod, const ContainerProgress& one) {
  return "back-off " + to_text(one.delay) + " restarting failed container=" + one.container->name +
         " pod=" + pod.metadata.name + "_" + pod.metadata.ns + "(" + pod.metadata.uid + ")";
}

ContainerState state_of(const ObservedPod& observed, const PodProgress& progress,
                        const ContainerProgress& one) {
  const Pod& pod = observed.pod;
  if (one.stand == Stand::running) {
    ContainerState state;
    state.running = {.started_at = at(one.last->started)};
    return state;
  }
  const auto failure = observed.start_failures.find(one.container->name);
  const bool failed = failure != observed.start_failures.end() && one.stand == Stand::may_start;
  if (one.last != nullptr && one.last->exited() && !failed && !one.again) {
    const bool restarts = progress.ending.kind == Ending::Kind::none;
    return restarts && one.stand == Stand::backs_off
               ? waiting("CrashLoopBackOff", back_off_text(pod, one))
               : terminated(pod, *one.last);
  }
  if (failed) {
    return waiting(failure->second.problem.reason, failure->second.problem.message);
  }
  return waiting(pod.spec.init_containers.empty() ||
                         (progress.initialized && one.role == Role::main)
                     ? "ContainerCreating"
                     : "PodInitializing");
}

ContainerStatus container_status(const ObservedPod& observed, const PodProgress& progress,
                                 const ContainerProgress& one) {
  ContainerStatus status;
  status.name = one.container->name;
  status.image = one.container->image;
  status.image_id = one.last == nullptr ? "" : one.container->image;
  status.restart_count = one.last == nullptr ? 0 : one.last->attempt;
  status.state = state_of(observed, progress, one);
  status.ready = one.role == Role::init ? one.succeeded() : one.ready;
  status.started = one.started;
  if (one.last != nullptr) {
    status.container_id = container_id(observed.pod, *one.last);
  }
  if (one.last != nullptr && one.last->exited() && !status.state.terminated) {
    status.last_state = terminated(observed.pod, *one.last);
  } else if (one.previous != nullptr && one.previous->exited()) {
    status.last_state = terminated(observed.pod, *one.previous);
  }
  return status;
}

std::string phase_of(const ObservedPod& observed, const PodProgress& progress) {
  using Kind = Ending::Kind;
  const PodStatus& before = observed.pod.status;
  const Kind ending = progress.ending.kind;
  if (is_over(before)) {
    return before.phase;
  }
  // Readers of an end give away what the pod had: the end is reported when nothing runs any more.
  const bool stopped = !progress.any_alive();
  if (stopped && (ending == Kind::deadline || ending == Kind::rejected || ending == Kind::evicted ||
                  ending == Kind::shutdown)) {
    return "Failed";
  }
  const auto mains = [&](auto&& test) {
    return std::ranges::count_if(progress.containers, [&](const ContainerProgress& one) {
      return one.role == Role::main && test(one);
    });
  };
  const auto all = mains([](const ContainerProgress&) { return true; });
  const auto over =
      mains([](const ContainerProgress& one) { return one.last != nullptr && one.last->exited(); });
  if (ending == Kind::init_failed) {
    return stopped ? "Failed" : "Pending";
  }
  if ((ending == Kind::done || (ending == Kind::deleted && over == all)) && stopped) {
    const bool good = mains([](const ContainerProgress& one) { return one.ended_well(); }) == all;
    return good ? "Succeeded" : "Failed";
  }
  const auto never_ran = mains([](const ContainerProgress& one) {
    return one.last == nullptr || (one.stand == Stand::starting && one.previous == nullptr);
  });
  return never_ran > 0 ? "Pending" : "Running";
}

struct Verdict {
  bool holds = false;
  std::string reason{};
  std::string message{};
};

void set(PodStatus& status, const Pod& pod, std::string_view type, const Verdict& verdict,
         WallTime now) {
  model::Condition condition{.type = std::string(type),
                             .status = verdict.holds ? "True" : "False",
                             .reason = verdict.reason,
                             .message = verdict.message};
  if (pod.metadata.generation > 0) {
    condition.observed_generation = pod.metadata.generation;
  }
  model::set_condition(status.conditions, condition, whole_seconds(now));
}

// "[a b]"
std::string names_of(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    text += (text.size() > 1 ? " " : "") + name;
  }
  return text + "]";
}

Verdict initialized(const PodProgress& progress, const PodStatus& status) {
  if (status.phase == "Succeeded") {
    return {true, "PodCompleted"};
  }
  if (progress.initialized || progress.has_run()) {
    return {true};  // once and for all, as a kubelet has it
  }
  std::vector<std::string> left;
  for (const ContainerProgress& one : progress.containers) {
    const bool passed = one.role == Role::sidecar ? one.started : one.succeeded();
    if (one.role != Role::main && !passed) {
      left.push_back(one.container->name);
    }
  }
  return {false, "ContainersNotInitialized",
          "containers with incomplete status: " + names_of(left)};
}

Verdict containers_ready(const PodProgress& progress, const PodStatus& status) {
  if (is_over(status)) {
    return {false, status.phase == "Succeeded" ? "PodCompleted" : "PodFailed"};
  }
  std::vector<std::string> unready;
  for (const ContainerProgress& one : progress.containers) {
    if (one.role != Role::init && !one.ready) {
      unready.push_back(one.container->name);
    }
  }
  if (unready.empty()) {
    return {true};
  }
  return {false, "ContainersNotReady", "containers with unready status: " + names_of(unready)};
}

Verdict pod_ready(const Pod& pod, const Verdict& containers, const PodStatus& status) {
  if (!containers.holds) {
    return containers;
  }
  for (const model::PodReadinessGate& gate : pod.spec.readiness_gates) {
    if (!model::is_condition_true(status.conditions, gate.condition_type)) {
      return {false, "ReadinessGatesNotReady",
              "corresponding condition of pod readiness gate \"" + gate.condition_type +
                  "\" does not exist or is not \"True\""};
    }
  }
  return {true};
}

}  // namespace

model::PodStatus status_of(const ObservedPod& observed, const PodProgress& progress, WallTime now) {
  const Pod& pod = observed.pod;
  PodStatus status = pod.status;
  // A pod that was never here says no more than why, and one that is over has said all.
  const bool alive = observed.sandbox && observed.sandbox->alive;
  if (progress.ending.kind == Ending::Kind::over && !observed.sandbox) {
    return status;
  }
  status.phase = phase_of(observed, progress);
  if (!progress.ending.reason.empty() && is_over(status)) {
    status.reason = progress.ending.reason;
    status.message = progress.ending.message;
  }
  if (!status.start_time) {
    status.start_time = whole_seconds(observed.seen);
  }
  if (pod.metadata.generation > 0) {
    status.observed_generation = pod.metadata.generation;
  }
  status.host_ip = observed.addresses.host;
  status.host_ips = {{.ip = observed.addresses.host}};
  if (alive && !observed.addresses.pod.empty()) {
    status.pod_ip = observed.addresses.pod;
    status.pod_ips = {{.ip = observed.addresses.pod}};
  }
  status.init_container_statuses.clear();
  status.container_statuses.clear();
  // Of one that was turned away there is nothing to tell: it would look as if it were being
  // created.
  if (progress.ending.kind != Ending::Kind::rejected || progress.has_run()) {
    for (const ContainerProgress& one : progress.containers) {
      (one.role == Role::main ? status.container_statuses : status.init_container_statuses)
          .push_back(container_status(observed, progress, one));
    }
  }
  const Verdict containers = containers_ready(progress, status);
  if (progress.ending.kind == Ending::Kind::evicted) {
    // Before the end is reported: the next agent goes on with it.
    set(status, pod, kDisruption, {true, std::string(kEndedByNode), progress.ending.message}, now);
  }
  set(status, pod, "PodReadyToStartContainers", {alive}, now);
  set(status, pod, "Initialized", initialized(progress, status), now);
  set(status, pod, "ContainersReady", containers, now);
  set(status, pod, "Ready", pod_ready(pod, containers, status), now);
  return status;
}

}  // namespace codeflare::node
