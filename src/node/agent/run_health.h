#pragma once

#include "base/time.h"
#include "model/container.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The results of probes for one run of a container: when each is due, how often it may fail, and
// what follows. Pure: times and outcomes are parameters.
namespace codeflare::node {

enum class ProbeKind : std::uint8_t { startup, readiness, liveness };
inline constexpr std::array kProbeKinds = {ProbeKind::startup, ProbeKind::readiness,
                                           ProbeKind::liveness};
std::string_view to_string(ProbeKind kind);  // "Startup", as events have it

const std::optional<model::Probe>& probe_of(const model::Container& container, ProbeKind kind);

// With the API's defaults.
struct ProbeTimes {
  Duration initial_delay{};
  Duration period{};
  Duration timeout{};
  std::int32_t successes = 1;  // in a row, to pass
  std::int32_t failures = 3;   // in a row, to fail
};
ProbeTimes times_of(const model::Probe& probe);

struct ProbeOutcome {
  enum class Kind : std::uint8_t {
    success,
    failure,
    lost,  // nobody knows: as if it had not been tried
  };
  Kind kind = Kind::success;
  std::string text{};    // for the event
  bool warning = false;  // it succeeded, and people should know how
};

// A run that has to end although its pod goes on.
struct Doom {
  std::string message;              // "Container c failed liveness probe, will be restarted"
  std::optional<Duration> grace{};  // absent: the pod's
  friend bool operator==(const Doom&, const Doom&) = default;
};

class RunHealth {
 public:
  // The findings of an earlier agent.
  struct Before {
    bool started = false;
    bool ready = false;
  };
  RunHealth(const model::Container& container, Instant began, Before before);
  RunHealth(const model::Container& container, Instant began)
      : RunHealth(container, began, Before()) {}

  // The startup probe has passed, or there is none.
  bool started() const { return started_; }
  bool ready() const { return started_ && ready_; }
  const std::optional<Doom>& doom() const { return doom_; }

  // When the probe is to be tried next; nothing while it is not wanted.
  std::optional<Instant> due(ProbeKind kind) const;
  // True when started(), ready() or doom() is another than before.
  bool took(ProbeKind kind, Instant tried_at, const ProbeOutcome& outcome);

 private:
  struct One {
    bool wanted = false;
    ProbeTimes times{};
    std::optional<Duration> grace{};
    std::optional<Instant> tried{};
    std::optional<bool> last{};  // how it went
    std::int32_t row = 0;        // so often in a row
  };
  One& one(ProbeKind kind) { return probes_.at(static_cast<std::size_t>(kind)); }
  const One& one(ProbeKind kind) const { return probes_.at(static_cast<std::size_t>(kind)); }
  bool conclude(ProbeKind kind, bool passed, Instant at);

  std::string name_;
  Instant began_;
  Instant started_at_;
  std::array<One, 3> probes_;
  bool started_ = false;
  bool ready_ = false;
  std::optional<Doom> doom_;
};

}  // namespace codeflare::node
