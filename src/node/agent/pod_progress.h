#pragma once

#include "node/agent/pod_sync.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Where each container of a pod stands. Pure; the part of pod_sync.h that both its steps and its
// status are made from.
namespace codeflare::node {

// The condition of a pod that the node itself ends, as a kubelet writes it.
inline constexpr std::string_view kDisruption = "DisruptionTarget";
inline constexpr std::string_view kEndedByNode = "TerminationByKubelet";

// Its program did not come so far as to run.
bool could_not_start(const RunRecord& run);

// Nothing more can become of it.
bool is_over(const model::PodStatus& status);

struct ContainerProgress {
  enum class Role : std::uint8_t { init, sidecar, main };
  enum class Stand : std::uint8_t {
    waits,      // for its turn
    may_start,  // now
    backs_off,  // until `start_at`
    starting,
    running,
    ended,  // for good
  };
  const model::Container* container = nullptr;
  Role role = Role::main;
  Stand stand = Stand::waits;
  const RunRecord* last = nullptr;
  const RunRecord* previous = nullptr;
  const ContainerHealth* health = nullptr;  // of the last run
  bool here = false;                        // the last run was in the sandbox that is there now
  bool again = false;                       // it has its turn once more, in a new one
  bool started = false;                     // it runs and its startup probe has passed
  bool ready = false;
  WallTime start_at{};
  Duration delay{};

  bool alive() const { return stand == Stand::starting || stand == Stand::running; }
  // Of its own accord: the code of what was cut off says nothing.
  bool ended_well() const { return last != nullptr && last->exit_code == 0 && !last->cut_off; }
  bool succeeded() const { return stand == Stand::ended && ended_well(); }
  std::int32_t next_attempt() const { return last == nullptr ? 0 : last->attempt + 1; }
};

// Why everything in the pod is to end.
struct Ending {
  enum class Kind : std::uint8_t {
    none,
    deleted,
    over,
    deadline,
    rejected,
    evicted,
    shutdown,
    init_failed,
    done
  };
  Kind kind = Kind::none;
  std::string reason{};  // for the status; empty: none
  std::string message{};
};

struct PodProgress {
  std::vector<ContainerProgress> containers;  // init containers first, in order
  bool initialized = false;                   // main containers may run
  Ending ending;

  bool any_alive() const;
  // Some main container has, in this sandbox or an earlier one.
  bool has_run() const;
};

PodProgress progress_of(const ObservedPod& observed, WallTime now);

// The status for the API server.
model::PodStatus status_of(const ObservedPod& observed, const PodProgress& progress, WallTime now);

// As the wire has times, so that what is written is what is read again.
WallTime whole_seconds(WallTime time);

}  // namespace codeflare::node
