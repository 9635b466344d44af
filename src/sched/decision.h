#pragma once

#include "sched/spec.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What the scheduling core answers.
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

enum class Why : std::uint8_t {
  nothing,           // it does not wait, or was not tried yet
  held,              // by its owner
  unknown_quota,     // it names a quota node that does not exist, or may not charge it
  quota,             // a quota node has no room
  excluded,          // selectors, affinity or taints leave no node
  insufficient,      // too little is free
  fragmented,        // enough is free in sum, but not in pieces that its pods fit
  reserved,          // it would fit, but the head of the line has reserved the place
  awaiting_victims,  // its place is being cleared
  paused,            // nothing starts now
};
const char* to_string(Why why);

// A gang that was tried, or joined others of its shape that had been tried, and stays in line.
struct Refusal {
  GangId gang;
  Why why = Why::nothing;
};

struct StepResult {
  std::vector<Admission> admitted;
  std::vector<Eviction> evicted;
  // Gangs new since the last step, and those whose reason is another one: see Core::review.
  std::vector<Refusal> refused;
  // When time alone can change a decision: call step again then.
  std::optional<Time> wake_at;
  // The admission limit ended the step; call again.
  bool more = false;
};

}  // namespace codeflare::sched
