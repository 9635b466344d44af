#include "node/agent/pod_progress.h"

#include "model/condition.h"
#include "model/pod_requests.h"
#include "node/agent/eviction.h"

#include <algorithm>

namespace codeflare::node {

namespace {

using Role = ContainerProgress::Role;
using Stand = ContainerProgress::Stand;
using std::chrono::seconds;

constexpr std::int32_t kStartFailed = 128;
constexpr Duration kFirstDelay = seconds(10);
constexpr Duration kDelayMax = seconds(300);
constexpr Duration kHealthyRun = seconds(600);
// A program that ran so long has not killed its keeper.
constexpr Duration kInnocentRun = seconds(10);

// Nothing when it did not come so far.
Duration ran_for(const RunRecord& run) {
  return run.started == 0 ? Duration::zero() : Duration(run.finished - run.started);
}

// Init containers are tried again until they succeed, unless nothing in the pod is.
bool may_restart(const model::Pod& pod, Role role, const RunRecord& run) {
  if (role == Role::sidecar) {
    return true;
  }
  const std::string& policy = pod.spec.restart_policy;
  if (policy == "Never") {
    return false;
  }
  const bool always = policy != "OnFailure" && role == Role::main;
  return always || run.exit_code != 0 || run.cut_off;
}

WallTime at(std::int64_t nanoseconds) {
  return WallTime(Duration(nanoseconds));
}

// Of a run that has not ended. Without a word about it a probe has not passed yet; a hook that
// nobody speaks of was run by an earlier agent.
void look_at_health(ContainerProgress& progress) {
  const model::Container& container = *progress.container;
  const ContainerHealth* health = progress.health;
  const bool hooked = health != nullptr && health->post_start_pending;
  if (!progress.last->running() || hooked) {
    progress.stand = Stand::starting;
    return;
  }
  progress.stand = Stand::running;
  progress.started = health != nullptr ? health->started : !container.startup_probe;
  progress.ready =
      progress.started && (health != nullptr ? health->ready : !container.readiness_probe);
}

ContainerProgress look_at(const ObservedPod& observed, const model::Container& container, Role role,
                          WallTime now) {
  ContainerProgress progress{.container = &container, .role = role};
  if (observed.sandbox) {
    progress.last = observed.sandbox->state.last(container.name);
    progress.previous = observed.sandbox->state.previous(container.name);
  }
  const RunRecord* last = progress.last;
  if (last == nullptr) {
    return progress;
  }
  const SandboxView& sandbox = *observed.sandbox;
  progress.here = sandbox.alive && last->sandbox == sandbox.state.sandbox;
  const auto health = observed.health.find(container.name);
  if (health != observed.health.end() && health->second.attempt == last->attempt) {
    progress.health = &health->second;
  }
  if (!last->exited()) {
    look_at_health(progress);
    return progress;
  }
  if (!may_restart(observed.pod, role, *last)) {
    progress.stand = Stand::ended;
    return progress;
  }
  const auto cut_off = observed.cut_off.find(container.name);
  const bool forgiven = cut_off != observed.cut_off.end() && cut_off->second == last->attempt;
  progress.delay = forgiven ? Duration::zero() : restart_delay(*last);
  progress.start_at = at(last->finished) + progress.delay;
  progress.stand = progress.start_at > now ? Stand::backs_off : Stand::may_start;
  return progress;
}

// In a new sandbox each has its turn once more, whatever it came to in an earlier one: what it had
// prepared in memory is gone.
void wait_again(ContainerProgress& one) {
  one.stand = Stand::waits;
  one.again = true;
}

// Init containers one after the other; a sidecar lets the next one begin when it has started. Not
// any more when a main container has begun: they are not waited for then.
bool order_inits(std::vector<ContainerProgress>& containers, bool goes_on) {
  const bool begun = std::ranges::any_of(
      containers, [](const ContainerProgress& one) { return one.role == Role::main && one.here; });
  bool open = true;
  for (ContainerProgress& one : containers) {
    if (one.role == Role::main) {
      continue;
    }
    if (goes_on && !begun && one.last != nullptr && !one.here &&
        (one.stand == Stand::ended || (one.stand == Stand::may_start && !open))) {
      wait_again(one);
    }
    if (one.stand == Stand::waits && open) {
      one.stand = Stand::may_start;
    }
    const bool passed = one.role == Role::sidecar ? one.started : one.succeeded();
    open = open && passed;
  }
  return begun || open;
}

// An eviction that an earlier agent began goes on, whatever is on disk by now.
const model::Condition* eviction_begun(const model::Pod& pod) {
  const model::Condition* said = model::find_condition(pod.status.conditions, kDisruption);
  return said != nullptr && said->status == "True" && said->reason == kEndedByNode ? said : nullptr;
}

Ending ending_of(const ObservedPod& observed, const PodProgress& progress, WallTime now) {
  using Kind = Ending::Kind;
  const model::Pod& pod = observed.pod;
  if (pod.metadata.deleting()) {
    return {.kind = Kind::deleted};
  }
  if (is_over(pod.status)) {
    return {.kind = Kind::over};
  }
  if (observed.rejected) {
    return {Kind::rejected, observed.rejected->reason, observed.rejected->message};
  }
  if (observed.evicted) {
    return {Kind::evicted, observed.evicted->reason, observed.evicted->message};
  }
  if (const model::Condition* begun = eviction_begun(pod)) {
    return {Kind::evicted, std::string(kEvicted), begun->message};
  }
  const WallTime began = pod.status.start_time.value_or(observed.seen);
  if (pod.spec.active_deadline_seconds &&
      now >= began + seconds(*pod.spec.active_deadline_seconds)) {
    return {Kind::deadline, "DeadlineExceeded",
            "Pod was active on the node longer than the specified deadline"};
  }
  const auto& all = progress.containers;
  const bool init_failed = std::ranges::any_of(all, [](const ContainerProgress& one) {
    return one.role == Role::init && one.stand == Stand::ended && !one.succeeded();
  });
  const bool mains_ended = std::ranges::all_of(all, [](const ContainerProgress& one) {
    return one.role != Role::main || one.stand == Stand::ended;
  });
  if (!init_failed && !mains_ended) {
    return {};
  }
  const bool gone = observed.sandbox && !observed.sandbox->alive;
  if (std::ranges::any_of(all, [&](const ContainerProgress& one) {
        return one.role != Role::sidecar && one.last != nullptr && was_cut_off(*one.last) &&
               (gone || one.last->cut_off);
      })) {
    return {Kind::shutdown, "NodeShutdown", "the node was stopped while the pod was running"};
  }
  return {.kind = init_failed ? Kind::init_failed : Kind::done};
}

}  // namespace

bool could_not_start(const RunRecord& run) {
  return run.exited() && run.exit_code == kStartFailed && !run.error.empty() &&
         run.error != kKeeperLost;
}

bool is_over(const model::PodStatus& status) {
  return status.phase == "Succeeded" || status.phase == "Failed";
}

bool was_cut_off(const RunRecord& run) {
  const bool ended = run.exit_code != 0 && (run.asked_to_end != 0 || run.error == kKeeperLost);
  return run.exited() && (run.cut_off || ended);
}

Duration restart_delay(const RunRecord& run) {
  const Duration enough = run.error == kKeeperLost ? kInnocentRun : kHealthyRun;
  if (run.attempt == 0 || ran_for(run) >= enough) {
    return Duration::zero();
  }
  const Duration waited = std::chrono::milliseconds(run.backoff_ms);
  return waited == Duration::zero() ? kFirstDelay : std::min(waited * 2, kDelayMax);
}

WallTime whole_seconds(WallTime time) {
  return std::chrono::floor<seconds>(time);
}

bool PodProgress::any_alive() const {
  return std::ranges::any_of(containers, &ContainerProgress::alive);
}

bool PodProgress::has_run() const {
  return std::ranges::any_of(containers, [](const ContainerProgress& one) {
    return one.role == Role::main && one.last != nullptr;
  });
}

PodProgress progress_of(const ObservedPod& observed, WallTime now) {
  PodProgress progress;
  const model::PodSpec& spec = observed.pod.spec;
  for (const model::Container& container : spec.init_containers) {
    const Role role = model::is_sidecar(container) ? Role::sidecar : Role::init;
    progress.containers.push_back(look_at(observed, container, role, now));
  }
  for (const model::Container& container : spec.containers) {
    progress.containers.push_back(look_at(observed, container, Role::main, now));
  }
  progress.ending = ending_of(observed, progress, now);
  const bool goes_on = progress.ending.kind == Ending::Kind::none;
  progress.initialized = order_inits(progress.containers, goes_on);
  // A container whose postStart hook runs keeps those after it waiting for their first start.
  bool open = progress.initialized;
  for (ContainerProgress& one : progress.containers) {
    if (one.role == Role::main && one.stand == Stand::waits && open) {
      one.stand = Stand::may_start;
    } else if (one.role == Role::main && one.stand == Stand::may_start && goes_on &&
               !progress.initialized) {
      wait_again(one);
    }
    open = open && !(one.role == Role::main && one.stand == Stand::starting &&
                     one.health != nullptr && one.health->post_start_pending);
  }
  return progress;
}

}  // namespace codeflare::node
