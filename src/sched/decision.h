#pragma once

#include "model/reason.h"
#include "sched/spec.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The answers of the scheduling core.
namespace codeflare::sched {

// Handles are cheap to compare and never reused: a stale one is simply not found.
struct GangId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  friend auto operator<=>(const GangId&, const GangId&) = default;
};

struct NodeId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  friend auto operator<=>(const NodeId&, const NodeId&) = default;
};

// `count` pods of one pod set (its position in GangSpec::pod_sets) on one node.
struct Slot {
  std::uint32_t pod_set = 0;
  NodeId node;
  std::int64_t count = 0;
  friend auto operator<=>(const Slot&, const Slot&) = default;
};
// Every pod of a gang; ordered by pod set, then as placed.
using Placement = std::vector<Slot>;

enum class GangState : std::uint8_t {
  waiting,
  nominated,  // has its place, and waits until the gangs evicted for it are gone
  running,    // admitted
  draining,   // being evicted; what it holds is not free yet
};

// Start this gang now, with these places.
struct Admission {
  GangId gang;
  Placement placement;
};

enum class EvictionCause : std::uint8_t { priority, reclaim };

// Stop this gang; tell the core with Core::requeue when its pods are gone.
struct Eviction {
  GangId victim;
  GangId for_gang;
  EvictionCause cause = EvictionCause::priority;
};

// Change the size of this running gang. Places that come are reserved for it; places that go stay
// taken until Core::pod_ended or Core::drop_place tells that they are free.
struct Resize {
  GangId gang;
  Placement more{};
  Placement less{};
  // The gang that gets the places; none if the gang's own bounds fell.
  std::optional<GangId> for_gang{};
};

// The core gives the reasons from `none` to `paused`.
using model::Reason;
// As scenarios and `codeflare simulate` write it: "unknown quota". Not a word of the API.
const char* to_string(Reason why);

// A gang that was tried, or joined others of its shape that had been tried, and stays in line.
struct Refusal {
  GangId gang;
  Reason why = Reason::none;
};

struct StepResult {
  std::vector<Admission> admitted;
  std::vector<Eviction> evicted;
  // For each gang and beneficiary once.
  std::vector<Resize> resized;
  // Gangs new since the last step, and those whose reason is another one: see Core::review.
  std::vector<Refusal> refused;
  // When time alone can change a decision: call step again then.
  std::optional<Time> wake_at;
  // The admission limit ended the step, or room came free in the middle of it; call again.
  bool more = false;
};

}  // namespace codeflare::sched
