#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"

#include <algorithm>

// Places of a running gang that no pod has taken: given up, or found again after a node was lost.
namespace codeflare::sched {

namespace {

Error holds_nothing(const State& state, Index gang) {
  return failed_precondition("gang " + state.gangs[gang].name + " holds nothing");
}

// The places are taken from the node already.
void add_place(State& state, Run& run, const HeldSlot& added) {
  state.cluster.add_resident(added.node, run.gang, added.count);
  run.unplaced[added.pod_set] -= added.count;
  const auto same = std::find_if(run.places.begin(), run.places.end(), [&](const HeldSlot& place) {
    return place.pod_set == added.pod_set && place.node == added.node;
  });
  if (same == run.places.end()) {
    run.places.push_back(added);
  } else {
    same->count += added.count;
  }
}

// Where pods are, or will be, that keep apart from each other.
std::vector<Index> nodes_of(const Shape& shape, const Run& run, std::uint32_t apart) {
  std::vector<Index> nodes;
  for (const HeldSlot& place : run.places) {
    if (shape.sets[place.pod_set].apart == apart) {
      nodes.push_back(place.node);
    }
  }
  for (const BoundPod& pod : run.pods) {
    if (pod.pod_set != kUnplanned && shape.sets[pod.pod_set].apart == apart) {
      nodes.push_back(pod.node);
    }
  }
  return nodes;
}

// The part of the shape that is without a place and asked for.
Shape missing_part(const Shape& shape, const Run& run, const std::vector<std::int64_t>& counts) {
  Shape part;
  part.sets = shape.sets;
  part.within = shape.within;
  for (const Group& group : shape.groups) {
    Group less{.kind = group.kind, .sets = {}, .apart = group.apart};
    if (group.apart != 0) {
      less.taken = nodes_of(shape, run, group.apart);
    }
    for (const auto& [set, count] : group.sets) {
      const std::int64_t asked = set < counts.size() ? counts[set] : 0;
      const std::int64_t lost = set < run.unplaced.size() ? run.unplaced[set] : 0;
      const std::int64_t missing = std::min(asked, lost);
      if (missing <= 0) {
        continue;
      }
      less.sets.emplace_back(set, missing);
      less.count += missing;
    }
    if (less.count == 0) {
      continue;
    }
    part.pods += less.count;
    part.groups.push_back(std::move(less));
  }
  return part;
}

// `home`: the domain that the gang has to stay in.
bool search_places(State& state, Run& run, const std::vector<std::int64_t>& counts,
                   std::optional<DomainValues> home) {
  Shape part = missing_part(state.shapes[state.gangs[run.gang].shape], run, counts);
  part.home = std::move(home);
  const Placed placed = place(state.cluster, part, nullptr, state.options.search_steps_max);
  if (!placed.ok()) {
    return false;
  }
  for (const HeldSlot& each : places_of(part, placed.shares)) {
    add_place(state, run, each);
  }
  return true;
}

}  // namespace

Result<bool> drop_place(State& state, Index gang, std::uint32_t pod_set, Index node) {
  if (state.gangs[gang].run == kNone) {
    return fail(holds_nothing(state, gang));
  }
  Run& run = state.gangs.run_of(gang);
  Index freed = kNone;
  if (!free_place(state, run, pod_set, node, &freed)) {
    return false;
  }
  lose_elastic_place(state, gang, pod_set, freed);
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  recharge(state, run, shape.sets[pod_set].charge, {});
  return true;
}

Result<bool> find_places(State& state, Index gang, const std::vector<std::int64_t>& counts) {
  if (state.gangs[gang].run == kNone) {
    return fail(holds_nothing(state, gang));
  }
  Run& run = state.gangs.run_of(gang);
  return search_places(state, run, counts, home_of(state, run));
}

Result<void> give_places(State& state, Index gang, const Placement& placement) {
  if (state.gangs[gang].run == kNone) {
    return fail(holds_nothing(state, gang));
  }
  Run& run = state.gangs.run_of(gang);
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  for (const Slot& slot : placement) {
    if (slot.pod_set >= run.unplaced.size()) {
      continue;
    }
    const std::int64_t count = std::min(slot.count, run.unplaced[slot.pod_set]);
    if (count <= 0) {
      continue;
    }
    state.cluster.take(slot.node.index, state.cluster.kind(shape.sets[slot.pod_set].kind).request,
                       count);
    add_place(state, run, {slot.pod_set, slot.node.index, count});
  }
  return {};
}

Result<bool> move_place(State& state, Index gang, std::uint32_t pod_set, Index from) {
  if (state.gangs[gang].run == kNone) {
    return fail(holds_nothing(state, gang));
  }
  Run& run = state.gangs.run_of(gang);
  const bool has = std::ranges::any_of(run.places, [&](const HeldSlot& place) {
    return place.pod_set == pod_set && place.node == from;
  });
  const std::uint64_t changes_before = state.cluster.changes();
  // With its last place the gang would lose its domain.
  std::optional<DomainValues> home = home_of(state, run);
  if (!has || !free_place(state, run, pod_set, from)) {
    return false;
  }
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  run.unplaced.resize(shape.sets.size());
  ++run.unplaced[pod_set];
  std::vector<std::int64_t> counts(shape.sets.size());
  counts[pod_set] = 1;
  if (search_places(state, run, counts, std::move(home))) {
    return true;
  }
  state.cluster.take(from, state.cluster.kind(shape.sets[pod_set].kind).request, 1);
  add_place(state, run, {pod_set, from, 1});
  state.cluster.undone_since(changes_before);
  return false;
}

}  // namespace codeflare::sched
