#include "node/agent/pod_sync.h"

#include "node/agent/eviction.h"
#include "node/agent/pod_progress.h"

#include <algorithm>

namespace codeflare::node {

namespace {

using Kind = Step::Kind;
using Role = ContainerProgress::Role;
using Stand = ContainerProgress::Stand;
using std::chrono::seconds;

// The grace of a pod that fills the disk.
constexpr Duration kEvictionGrace = seconds(1);

bool has_pre_stop(const model::Container& container) {
  return container.lifecycle && container.lifecycle->pre_stop;
}

// Servers may write what is empty ("lastState": {}); only what we say counts.
void forget_extras(std::vector<model::ContainerStatus>& statuses) {
  for (model::ContainerStatus& status : statuses) {
    status.extra = {};
    for (model::ContainerState* state : {&status.state, &status.last_state}) {
      state->extra = {};
      if (state->waiting) {
        state->waiting->extra = {};
      }
      if (state->running) {
        state->running->extra = {};
      }
      if (state->terminated) {
        state->terminated->extra = {};
      }
    }
  }
}

bool says(model::PodStatus told, const model::PodStatus& wanted) {
  forget_extras(told.init_container_statuses);
  forget_extras(told.container_statuses);
  return told == wanted;
}

class Decider {
 public:
  Decider(const ObservedPod& observed, WallTime now)
      : observed_(observed), now_(now), progress_(progress_of(observed, now)) {}

  PodDecision decide() {
    if (progress_.ending.kind == Ending::Kind::none) {
      go_on();
    } else {
      end();
    }
    model::PodStatus status = status_of(observed_, progress_, now_);
    if (!says(observed_.pod.status, status)) {
      decision_.status = std::move(status);
    }
    return std::move(decision_);
  }

 private:
  bool sandbox_alive() const { return observed_.sandbox && observed_.sandbox->alive; }

  void look_again_at(WallTime when) {
    const Duration wait = std::max<Duration>(when - now_, Duration(1));
    decision_.look_again = decision_.look_again ? std::min(*decision_.look_again, wait) : wait;
  }

  // True when it is too early to retry a failed start.
  bool backs_off(const std::string& what) {
    const auto found = observed_.start_failures.find(what);
    if (found == observed_.start_failures.end() || found->second.retry_at <= now_) {
      return false;
    }
    look_again_at(found->second.retry_at);
    return true;
  }

  void go_on() {
    const model::Pod& pod = observed_.pod;
    if (pod.spec.active_deadline_seconds) {
      look_again_at(pod.status.start_time.value_or(observed_.seen) +
                    seconds(*pod.spec.active_deadline_seconds));
    }
    bool sandbox_wanted = false;
    for (const ContainerProgress& one : progress_.containers) {
      if (one.alive() && one.health != nullptr && one.health->doom) {
        end_container(one, one.health->doom->grace.value_or(grace()), one.health->doom->message);
      }
      if (one.stand == Stand::backs_off) {
        look_again_at(one.start_at);
      }
      if (one.stand != Stand::may_start) {
        continue;
      }
      if (!sandbox_alive()) {
        sandbox_wanted = true;
      } else if (!backs_off(one.container->name)) {
        decision_.steps.push_back({.kind = Kind::start,
                                   .container = one.container->name,
                                   .attempt = one.next_attempt(),
                                   .waited = one.delay});
      }
    }
    if (sandbox_wanted && !backs_off("")) {
      decision_.steps.push_back({.kind = Kind::make_sandbox});
    }
  }

  Duration grace() const {
    const model::Pod& pod = observed_.pod;
    if (progress_.ending.kind == Ending::Kind::evicted || pod.status.reason == kEvicted) {
      return kEvictionGrace;
    }
    const std::int64_t asked = pod.metadata.deletion_grace_period_seconds.value_or(
        pod.spec.termination_grace_period_seconds.value_or(30));
    return seconds(std::max<std::int64_t>(asked, 0));
  }

  // When the run has to be over that was asked to end, with what its hook has left of the grace.
  WallTime kill_time(const ContainerProgress& one, Duration grace) const {
    const WallTime asked{Duration(one.last->asked_to_end)};
    const WallTime least = asked + std::min(kLastGrace, grace);
    const bool hooked = one.health != nullptr && one.health->pre_stop_began;
    const WallTime own =
        hooked ? std::max(*one.health->pre_stop_began + grace, least) : asked + grace;
    const auto& deletion = observed_.pod.metadata.deletion_timestamp;
    return deletion ? std::min(own, std::max(*deletion, least)) : own;
  }

  // True while the preStop hook comes first.
  bool hook_first(const ContainerProgress& one, Duration grace, const std::string& because) {
    if (!has_pre_stop(*one.container) || one.stand != Stand::running ||
        one.last->asked_to_end != 0 || (one.health != nullptr && one.health->pre_stop_done)) {
      return false;
    }
    if (one.health == nullptr || !one.health->pre_stop_began) {
      decision_.steps.push_back({.kind = Kind::pre_stop,
                                 .container = one.container->name,
                                 .waited = grace,
                                 .because = because});
      look_again_at(now_ + grace);
      return true;
    }
    WallTime until = *one.health->pre_stop_began + grace;
    if (const auto& deletion = observed_.pod.metadata.deletion_timestamp) {
      until = std::min<WallTime>(until, *deletion);
    }
    if (until <= now_) {
      return false;
    }
    look_again_at(until);
    return true;
  }

  void end_container(const ContainerProgress& one, Duration grace,
                     const std::string& because = {}) {
    const std::string& name = one.container->name;
    if (grace == Duration::zero()) {
      decision_.steps.push_back({.kind = Kind::kill, .container = name, .because = because});
    } else if (hook_first(one, grace, because)) {
      return;
    } else if (one.last->asked_to_end == 0) {
      decision_.steps.push_back({.kind = Kind::ask_to_end, .container = name, .because = because});
      look_again_at(now_ + grace);
    } else if (kill_time(one, grace) <= now_) {
      decision_.steps.push_back({.kind = Kind::kill, .container = name, .because = because});
      look_again_at(now_ + kLastGrace);
    } else {
      look_again_at(kill_time(one, grace));
    }
  }

  // Sidecars serve the others until those have ended, and each those that were started after it.
  bool is_served_by(const ContainerProgress& sidecar) const {
    bool later = false;
    return std::ranges::any_of(progress_.containers, [&](const ContainerProgress& one) {
      const bool served = one.alive() && (one.role != Role::sidecar || later);
      later = later || &one == &sidecar;
      return served;
    });
  }

  void end() {
    const auto& deletion = observed_.pod.metadata.deletion_timestamp;
    const bool all_at_once = deletion && *deletion <= now_;
    if (sandbox_alive()) {
      for (const ContainerProgress& one : progress_.containers) {
        if (one.alive() && (one.role != Role::sidecar || all_at_once || !is_served_by(one))) {
          end_container(one, grace());
        }
      }
      if (!progress_.any_alive()) {
        decision_.steps.push_back({.kind = Kind::close_sandbox});
      }
    }
    const model::ObjectMeta& meta = observed_.pod.metadata;
    const bool held = meta.deletion_grace_period_seconds.value_or(0) == 0 &&
                      !meta.finalizers.empty();  // nothing more for us to do
    decision_.over = !progress_.any_alive();
    decision_.drop = meta.deleting() && decision_.over && !held;
  }

  const ObservedPod& observed_;
  WallTime now_;
  PodProgress progress_;
  PodDecision decision_;
};

}  // namespace

PodDecision decide(const ObservedPod& observed, WallTime now) {
  return Decider(observed, now).decide();
}

}  // namespace codeflare::node
