#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

auto find_pod(Run& run, const std::string& name) {
  return std::find_if(run.pods.begin(), run.pods.end(),
                      [&](const BoundPod& pod) { return pod.name == name; });
}

}  // namespace

bool free_place(State& state, Run& run, std::uint32_t pod_set, Index node, Index* freed) {
  const Shape& shape = state.shapes[state.gangs[run.gang].shape];
  if (pod_set >= shape.sets.size()) {
    return false;
  }
  auto chosen = run.places.end();
  for (auto place = run.places.begin(); place != run.places.end(); ++place) {
    if (place->pod_set != pod_set) {
      continue;
    }
    chosen = place;
    if (place->node == node) {
      break;
    }
  }
  const bool here = chosen != run.places.end() && chosen->node == node;
  if (!here && pod_set < run.unplaced.size() && run.unplaced[pod_set] > 0) {
    --run.unplaced[pod_set];
    if (freed != nullptr) {
      *freed = kNone;
    }
    return true;
  }
  if (chosen == run.places.end()) {
    return false;
  }
  if (freed != nullptr) {
    *freed = chosen->node;
  }
  state.cluster.give(chosen->node, state.cluster.kind(shape.sets[pod_set].kind).request, 1);
  state.cluster.drop_resident(chosen->node, run.gang, 1);
  if (--chosen->count == 0) {
    run.places.erase(chosen);
  }
  return true;
}

Result<bool> bind_pod(State& state, Index gang, BoundPod pod) {
  if (state.gangs[gang].run == kNone || state.gangs[gang].state == GangState::nominated) {
    return fail(failed_precondition("gang " + state.gangs[gang].name +
                                    " has not started, but pod " + pod.name + " has a node"));
  }
  Run& run = state.gangs.run_of(gang);
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  Request before;
  if (const auto known = find_pod(run, pod.name); known != run.pods.end()) {
    // Seen again: what it takes, or where, may have changed.
    state.cluster.give(known->node, known->request, 1);
    state.cluster.drop_resident(known->node, gang, 1);
    before = known->charge;
    pod.pod_set = known->pod_set;
    run.pods.erase(known);
  } else if (Index freed = kNone; free_place(state, run, pod.pod_set, pod.node, &freed)) {
    before = shape.sets[pod.pod_set].charge;
    if (freed != pod.node) {
      move_elastic(state, gang, pod.pod_set, freed, pod.node);
    }
  } else {
    pod.pod_set = kUnplanned;
  }
  state.cluster.take(pod.node, pod.request, 1);
  state.cluster.add_resident(pod.node, gang, 1);
  recharge(state, run, before, pod.charge);
  const bool planned = pod.pod_set != kUnplanned;
  run.pods.push_back(std::move(pod));
  return planned;
}

Result<void> end_pod(State& state, Index gang, const std::string& name, bool replaced) {
  if (state.gangs[gang].run == kNone) {
    return fail(not_found("gang " + state.gangs[gang].name + " holds nothing"));
  }
  Run& run = state.gangs.run_of(gang);
  const auto found = find_pod(run, name);
  if (found == run.pods.end()) {
    return fail(not_found("gang " + state.gangs[gang].name + " has no pod " + name));
  }
  const BoundPod pod = std::move(*found);
  run.pods.erase(found);
  state.cluster.give(pod.node, pod.request, 1);
  state.cluster.drop_resident(pod.node, gang, 1);
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  const bool successor = replaced && pod.pod_set != kUnplanned;
  if (successor) {
    const ShapeSet& set = shape.sets[pod.pod_set];
    state.cluster.take(pod.node, state.cluster.kind(set.kind).request, 1);
    state.cluster.add_resident(pod.node, gang, 1);
    const auto same =
        std::find_if(run.places.begin(), run.places.end(), [&](const HeldSlot& place) {
          return place.pod_set == pod.pod_set && place.node == pod.node;
        });
    if (same == run.places.end()) {
      run.places.push_back({pod.pod_set, pod.node, 1});
    } else {
      ++same->count;
    }
  }
  if (!successor) {
    lose_elastic_place(state, gang, pod.pod_set, pod.node);
  }
  recharge(state, run, pod.charge, successor ? shape.sets[pod.pod_set].charge : Request{});
  return {};
}

}  // namespace codeflare::sched
