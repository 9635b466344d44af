#include "sched/internal/invariants.h"

#include "sched/internal/holdings.h"
#include "sched/internal/order.h"
#include "sched/internal/quota_ranks.h"

#include <algorithm>
#include <map>
#include <vector>

namespace codeflare::sched {

namespace {

Error broken(std::string what) {
  return internal_error("broken invariant: " + std::move(what));
}

Result<void> check_nodes(const State& state) {
  const Cluster& cluster = state.cluster;
  const Index resources = cluster.order().resources;
  std::vector<std::vector<Amount>> used(cluster.nodes().size(), std::vector<Amount>(resources));
  std::vector<std::map<Index, std::int64_t>> pieces(cluster.nodes().size());
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone) {
      continue;
    }
    each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
      for (const Part& part : request) {
        used[node][part.resource] += part.amount * count;
      }
      pieces[node][run.gang] += count;
    });
  }
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    if (!cluster.nodes()[node].alive) {
      continue;
    }
    for (Index r = 0; r < resources; ++r) {
      if (cluster.free(node)[r] != cluster.potential(node, r) - used[node][r]) {
        return fail(broken("free " + cluster.resources().name(r) + " of node " +
                           cluster.nodes()[node].name));
      }
    }
    std::map<Index, std::int64_t> residents;
    for (const Resident& each : cluster.nodes()[node].residents) {
      residents[each.gang] += each.pieces;
    }
    if (residents != pieces[node]) {
      return fail(broken("residents of node " + cluster.nodes()[node].name));
    }
  }
  return cluster.check_invariants();
}

Result<void> check_quota(const State& state) {
  std::vector<Request> used;
  for (Index node = 0; node < state.forest.size(); ++node) {
    used.push_back(state.forest[node].foreign);
  }
  std::vector<Request> members(state.forest.size());
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone) {
      continue;
    }
    state.forest.each_on_path(run.leaves, [&](Index node) {
      add(used[node], run.charge, +1);
      const bool borrows =
          std::find(run.borrowed_at.begin(), run.borrowed_at.end(), node) != run.borrowed_at.end();
      if (run.ranked && !borrows && !state.forest[node].binding() &&
          !state.forest[node].limits.empty()) {
        add(members[node], rank_charge(state, run), +1);
      }
    });
  }
  for (Index node = 0; node < state.forest.size(); ++node) {
    const QuotaState& quota = state.forest[node];
    if (quota.used != used[node]) {
      return fail(broken("use of quota node " + quota.name));
    }
    if (quota.members != members[node]) {
      return fail(broken("members of quota node " + quota.name));
    }
    for (const Part& limit : quota.limits) {
      if (!quota.binding() && amount_of(quota.members, limit.resource) > limit.amount) {
        return fail(broken("members exceed quota node " + quota.name));
      }
    }
  }
  return {};
}

// Every pod of the set is of the minimum, growth or on its way out.
Result<void> check_elastic(const State& state, const Gang& gang) {
  const Elastic& elastic = state.elastics[gang.elastic];
  const Run& run = state.gangs.run(gang.run);
  std::map<Index, std::int64_t> held;
  std::int64_t sum = 0;
  for (const HeldSlot& place : run.places) {
    if (place.pod_set == elastic.pod_set) {
      held[place.node] += place.count;
      sum += place.count;
    }
  }
  for (const BoundPod& pod : run.pods) {
    if (pod.pod_set == elastic.pod_set) {
      ++held[pod.node];
      ++sum;
    }
  }
  if (gang.state == GangState::running || gang.state == GangState::draining) {
    if (sum != elastic.base + total(elastic.grown) + total(elastic.leaving)) {
      return fail(broken("size of gang " + gang.name));
    }
  }
  for (const auto* slots : {&elastic.grown, &elastic.leaving}) {
    for (const GrownSlot& slot : *slots) {
      if (on_node(elastic.grown, slot.node) + on_node(elastic.leaving, slot.node) >
          held[slot.node]) {
        return fail(broken("growth of gang " + gang.name + " on node " +
                           state.cluster.nodes()[slot.node].name));
      }
    }
  }
  if (elastic.active && elastic.base > elastic.sizes.min) {
    return fail(broken("minimum of gang " + gang.name));
  }
  if (elastic.active && elastic.base < elastic.sizes.min && !elastic.grown.empty()) {
    return fail(broken("gang " + gang.name + " has growth without its minimum"));
  }
  return {};
}

Result<void> check_gangs(const State& state) {
  std::size_t in_line = 0;
  std::size_t draining = 0;
  for (Index gang = 0; gang < state.gangs.all().size(); ++gang) {
    const Gang& each = state.gangs[gang];
    if (!each.alive) {
      continue;
    }
    const bool waits = each.state == GangState::waiting;
    if (waits == (each.run != kNone)) {
      return fail(broken("gang " + each.name + " and its run"));
    }
    // Held ones wait outside the line; one that runs may be held for later.
    if ((each.lane != kNone) != (waits && !each.held)) {
      return fail(broken("gang " + each.name + " and its lane"));
    }
    in_line += each.lane != kNone ? 1 : 0;
    draining += each.state == GangState::draining ? 1 : 0;
    if (each.run == kNone) {
      continue;
    }
    const Run& run = state.gangs.run(each.run);
    const Shape& shape = state.shapes[each.shape];
    std::int64_t planned = 0;
    for (const HeldSlot& place : run.places) {
      planned += place.count;
    }
    for (const BoundPod& pod : run.pods) {
      planned += pod.pod_set != kUnplanned ? 1 : 0;
    }
    for (const std::int64_t count : run.unplaced) {
      planned += count;
    }
    if (each.elastic != kNone) {
      TRY(check_elastic(state, each));
      continue;
    }
    if (planned > shape.pods) {
      return fail(broken("gang " + each.name + " holds too many places"));
    }
    if (each.state == GangState::nominated && planned != shape.pods) {
      return fail(broken("gang " + each.name + " is nominated in part"));
    }
  }
  if (in_line != state.lanes.waiting()) {
    return fail(broken("number of gangs in line"));
  }
  std::int64_t leaving = 0;
  for (const Elastic& elastic : state.elastics.all()) {
    leaving += total(elastic.leaving);
  }
  if (leaving != state.elastics.leaving) {
    return fail(broken("number of places on their way out"));
  }
  if (draining != state.draining) {
    return fail(broken("number of draining gangs"));
  }
  return {};
}

Result<void> check_lanes(const State& state) {
  for (Index lane = 0; lane < state.lanes.all().size(); ++lane) {
    const Lane& each = state.lanes[lane];
    if (!each.alive) {
      continue;
    }
    if (each.heap.empty()) {
      return fail(broken("an empty lane"));
    }
    for (std::size_t i = 0; i < each.heap.size(); ++i) {
      const Gang& gang = state.gangs[each.heap[i]];
      if (gang.lane != lane || gang.lane_place != i) {
        return fail(broken("gang " + gang.name + " is not where its lane has it"));
      }
      if (i > 0 && ahead_in_lane(gang, state.gangs[each.heap[(i - 1) / 2]])) {
        return fail(broken("a lane is out of order"));
      }
    }
  }
  return {};
}

}  // namespace

Result<void> check_invariants(const State& state) {
  TRY(check_nodes(state));
  TRY(check_quota(state));
  TRY(check_gangs(state));
  return check_lanes(state);
}

}  // namespace codeflare::sched
