#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/quota_ranks.h"
#include "sched/internal/reserve.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

std::int64_t& unplaced(const State& state, Run& run, std::uint32_t pod_set) {
  run.unplaced.resize(state.shapes[state.gangs[run.gang].shape].sets.size());
  return run.unplaced[pod_set];
}

// Its planned pods on that node are without a place; quota is charged for them as declared.
void lose_places(State& state, Index gang, Index node) {
  Run& run = state.gangs.run_of(gang);
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  const Index elastic = state.gangs[gang].elastic;
  if (elastic != kNone && on_node(state.elastics[elastic].coming, node) > 0) {
    cancel_coming(state, elastic);
  }
  // An elastic set goes on with what is left; the growth pass asks for more.
  const auto shrinks = [&](std::uint32_t pod_set) {
    return elastic != kNone && state.elastics[elastic].pod_set == pod_set;
  };
  std::vector<HeldSlot> lost;
  for (const HeldSlot& place : run.places) {
    if (place.node != node) {
      continue;
    }
    state.cluster.give(node, state.cluster.kind(shape.sets[place.pod_set].kind).request,
                       place.count);
    state.cluster.drop_resident(node, gang, place.count);
    if (shrinks(place.pod_set)) {
      lost.push_back(place);
      continue;
    }
    unplaced(state, run, place.pod_set) += place.count;
  }
  std::erase_if(run.places, [&](const HeldSlot& place) { return place.node == node; });
  for (const HeldSlot& place : lost) {
    Request charge;
    add(charge, shape.sets[place.pod_set].charge, place.count);
    lose_elastic(state, elastic, node, place.count);
    recharge(state, run, charge, {});
  }
  std::vector<std::string> pods;
  for (const BoundPod& pod : run.pods) {
    if (pod.node == node) {
      pods.push_back(pod.name);
    }
  }
  for (const std::string& pod : pods) {
    const auto found = std::find_if(run.pods.begin(), run.pods.end(),
                                    [&](const BoundPod& each) { return each.name == pod; });
    const std::uint32_t pod_set = found->pod_set;
    // Without a successor's place first, as the place would be on the lost node.
    const Request charge = found->charge;
    state.cluster.give(node, found->request, 1);
    state.cluster.drop_resident(node, gang, 1);
    run.pods.erase(found);
    if (pod_set != kUnplanned && shrinks(pod_set)) {
      lose_elastic(state, elastic, node, 1);
      recharge(state, run, charge, {});
      continue;
    }
    const bool planned = pod_set != kUnplanned;
    recharge(state, run, charge, planned ? shape.sets[pod_set].charge : Request{});
    if (planned) {
      ++unplaced(state, run, pod_set);
    }
  }
}

}  // namespace

void node_changed(State& state, Index node) {
  ++state.nodes_version;
  if (!state.reservation) {
    return;
  }
  for (const auto& [reserved, request] : state.reservation->nodes) {
    if (reserved == node) {
      state.reservation_stale = true;
    }
  }
}

std::vector<GangId> lose_node(State& state, Index node) {
  node_changed(state, node);
  std::vector<GangId> losers;
  const std::vector<Resident> residents = state.cluster.nodes()[node].residents;
  for (const Resident& resident : residents) {
    losers.push_back(state.gangs.id(resident.gang));
    if (state.gangs[resident.gang].state == GangState::nominated) {
      std::erase(state.nominated, resident.gang);
      end_run(state, resident.gang);
      enqueue(state, resident.gang);
    } else {
      lose_places(state, resident.gang, node);
    }
  }
  state.cluster.remove(node);
  if (state.reservation) {
    std::erase_if(state.reservation->nodes, [&](const auto& each) { return each.first == node; });
  }
  return losers;
}

void forest_changed(State& state) {
  drop_reservation(state);
  state.claims.resolve_all(state.forest);
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone) {
      continue;
    }
    Run& charged = state.gangs.run_of(run.gang);
    const Claim& claim = state.claims[state.gangs[run.gang].claim];
    charged.leaves = state.forest.resolve_running(claim.asked);
    charged.borrowed_at.clear();
    charged.ranked = false;
    state.forest.charge(charged.leaves, charged.charge, +1);
  }
  rank_all(state);
  requeue_all(state);
  state.growth_stir = true;
}

}  // namespace codeflare::sched
