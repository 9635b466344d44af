#pragma once

#include "sched/internal/state.h"

#include <vector>

// The holdings of gangs on nodes and of quotas.
namespace codeflare::sched {

// visit(node, request, count) for everything that the run holds on nodes.
template <typename Visit>
void each_holding(const State& state, const Run& run, Visit&& visit) {
  const Gang& gang = state.gangs[run.gang];
  const Shape& shape = state.shapes[gang.shape];
  for (const HeldSlot& place : run.places) {
    visit(place.node, state.cluster.kind(shape.sets[place.pod_set].kind).request, place.count);
  }
  for (const BoundPod& pod : run.pods) {
    visit(pod.node, pod.request, std::int64_t{1});
  }
  if (gang.elastic != kNone) {
    const Elastic& elastic = state.elastics[gang.elastic];
    for (const GrownSlot& slot : elastic.coming) {
      visit(slot.node, state.cluster.kind(shape.sets[elastic.pod_set].kind).request, slot.count);
    }
  }
}

// Shares are of groups; a group's places go to its pod sets in their order.
std::vector<HeldSlot> places_of(const Shape& shape, const std::vector<Share>& shares);

// Gives the gang its places, which `place` has taken already, and charges its quotas.
void begin_run(State& state, Index gang, const std::vector<Share>& shares, Time now);
// Frees everything; the gang keeps existing. Promotion may be left to the caller.
void end_run(State& state, Index gang, bool and_promote = true);

// As if the run were gone, and back again: for trials. Nobody is woken.
void lift(State& state, const Run& run);
void restore(State& state, const Run& run);

// Charges follow what pods really ask for.
void recharge(State& state, Run& run, const Request& less, const Request& more);

// Of a nominated gang: what its quota nodes have charged beyond their limits, its own charge not
// counted as used. Empty once there is room for it.
std::vector<QuotaShortage> quota_beyond(const State& state, const Run& run);

// When it will probably end: expected duration, else its limit; unknown without both.
std::optional<Time> predicted_end(const Gang& gang, const Run& run, Time now);

Placement placement_of(const State& state, const Run& run);

// Of a gang that has to stay within a domain: where it is. Nothing while it has no node.
std::optional<DomainValues> home_of(const State& state, const Run& run);

}  // namespace codeflare::sched
