#include "node/agent/run_health.h"

#include <algorithm>
#include <utility>

namespace codeflare::node {

namespace {

using std::chrono::seconds;

std::int32_t or_default(std::int32_t value, std::int32_t otherwise) {
  return value > 0 ? value : otherwise;
}

}  // namespace

std::string_view to_string(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::startup:
      return "Startup";
    case ProbeKind::readiness:
      return "Readiness";
    case ProbeKind::liveness:
      return "Liveness";
  }
  return "";
}

const std::optional<model::Probe>& probe_of(const model::Container& container, ProbeKind kind) {
  switch (kind) {
    case ProbeKind::startup:
      return container.startup_probe;
    case ProbeKind::readiness:
      return container.readiness_probe;
    case ProbeKind::liveness:
      break;
  }
  return container.liveness_probe;
}

ProbeTimes times_of(const model::Probe& probe) {
  return {.initial_delay = seconds(std::max(probe.initial_delay_seconds, 0)),
          .period = seconds(or_default(probe.period_seconds, 10)),
          .timeout = seconds(or_default(probe.timeout_seconds, 1)),
          .successes = or_default(probe.success_threshold, 1),
          .failures = or_default(probe.failure_threshold, 3)};
}

RunHealth::RunHealth(const model::Container& container, Instant began, Before before)
    : name_(container.name), began_(began), started_at_(began) {
  for (ProbeKind kind : kProbeKinds) {
    if (const std::optional<model::Probe>& probe = probe_of(container, kind)) {
      One& mine = one(kind);
      mine.wanted = true;
      mine.times = times_of(*probe);
      if (probe->termination_grace_period_seconds) {
        mine.grace = seconds(std::max<std::int64_t>(*probe->termination_grace_period_seconds, 0));
      }
    }
  }
  started_ = before.started || !one(ProbeKind::startup).wanted;
  ready_ = before.ready || !one(ProbeKind::readiness).wanted;
}

std::optional<Instant> RunHealth::due(ProbeKind kind) const {
  const One& mine = one(kind);
  const bool its_turn = (kind == ProbeKind::startup) != started_;
  if (!mine.wanted || !its_turn || (doom_ && kind != ProbeKind::readiness)) {
    return std::nullopt;
  }
  if (mine.tried) {
    return *mine.tried + mine.times.period;
  }
  return std::max(began_ + mine.times.initial_delay, started_at_);
}

bool RunHealth::conclude(ProbeKind kind, bool passed, Instant at) {
  if (kind == ProbeKind::readiness) {
    return std::exchange(ready_, passed) != passed;
  }
  if (!passed) {
    std::string what(to_string(kind));
    what.front() = kind == ProbeKind::startup ? 's' : 'l';
    doom_ = Doom{"Container " + name_ + " failed " + what + " probe, will be restarted",
                 one(kind).grace};
    return true;
  }
  if (kind == ProbeKind::startup) {
    started_ = true;
    started_at_ = at;
    return true;
  }
  return false;
}

bool RunHealth::took(ProbeKind kind, Instant tried_at, const ProbeOutcome& outcome) {
  One& mine = one(kind);
  if (!due(kind)) {
    return false;  // it came too late to matter
  }
  mine.tried = tried_at;
  if (outcome.kind == ProbeOutcome::Kind::lost) {
    return false;
  }
  const bool passed = outcome.kind == ProbeOutcome::Kind::success;
  mine.row = mine.last == passed ? mine.row + 1 : 1;
  mine.last = passed;
  if (mine.row < (passed ? mine.times.successes : mine.times.failures)) {
    return false;
  }
  return conclude(kind, passed, tried_at);
}

}  // namespace codeflare::node
