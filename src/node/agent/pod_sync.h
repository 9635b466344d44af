#pragma once

#include "base/time.h"
#include "model/pod.h"
#include "node/agent/container_health.h"
#include "node/agent/container_spec.h"
#include "node/stream/sandbox_view.h"
#include "node/wire/keeper_protocol.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

// The next steps of a pod on this node and its status: the whole of a kubelet's judgement, as a
// function of what is known and the time. Pure.
namespace codeflare::node {

// A start that failed.
struct StartFailure {
  StartProblem problem;
  WallTime retry_at{};
};

struct PodAddresses {
  std::string pod;
  std::string host;
};

struct ObservedPod {
  model::Pod pod;
  std::optional<SandboxView> sandbox{};  // absent: none was ever made
  WallTime seen{};                       // when the pod came to this node
  PodAddresses addresses{};
  // By container; of the pod as a whole (volumes, sandbox) under "".
  std::map<std::string, StartFailure> start_failures{};
  // The pod cannot be here at all: no devices for it.
  std::optional<StartProblem> rejected{};
  // It uses more of the disk than it may.
  std::optional<StartProblem> evicted{};
  // By container, of what runs. Containers without probes and hooks need none.
  std::map<std::string, ContainerHealth> health{};
  // By container: the run that was ended with the node, which does not count as a crash of it.
  std::map<std::string, std::int32_t> cut_off{};
};

struct Step {
  enum class Kind : std::uint8_t {
    make_sandbox,   // and volumes; nothing can be started before
    start,          // the container, as run `attempt`
    pre_stop,       // its hook, for at most `waited`
    ask_to_end,     // SIGTERM
    kill,           // all that the container runs
    close_sandbox,  // nothing runs: the keeper can go, logs stay
  };
  Kind kind = Kind::start;
  std::string container{};
  std::int32_t attempt = 0;
  Duration waited{};      // of a start: for the crash before it
  std::string because{};  // why it ends, when that is not the end of its pod
  friend bool operator==(const Step&, const Step&) = default;
};

struct PodDecision {
  std::vector<Step> steps{};
  std::optional<model::PodStatus> status{};  // when it has to be written
  bool over = false;                         // nothing runs, and nothing will
  bool drop = false;                         // everything has ended: let the object go
  std::optional<Duration> look_again{};
};

PodDecision decide(const ObservedPod& observed, WallTime now);

// How long a container that ended like this waits before it is started again: 10 s, 20 s, ... 5
// min. Not at all the first time, and after a run of ten minutes, or ten seconds when its keeper
// was lost.
Duration restart_delay(const RunRecord& run);

// Whether the run was asked to end, or lost, and not by what its program did.
bool was_cut_off(const RunRecord& run);

// However little of the grace is left, a sidecar that has just been asked may still answer.
inline constexpr Duration kLastGrace = std::chrono::seconds(2);

}  // namespace codeflare::node
