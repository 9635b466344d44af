#include "sched/internal/holdings.h"

#include "sched/internal/growth.h"
#include "sched/internal/quota_ranks.h"

#include <algorithm>
#include <iterator>

namespace codeflare::sched {

std::vector<HeldSlot> places_of(const Shape& shape, const std::vector<Share>& shares) {
  std::vector<HeldSlot> places;
  places.reserve(shares.size());
  for (Index group = 0; group < shape.groups.size(); ++group) {
    const auto& sets = shape.groups[group].sets;
    auto set = sets.begin();
    std::int64_t wanted = set == sets.end() ? 0 : set->second;
    for (const Share& share : shares) {
      if (share.group != group) {
        continue;
      }
      for (std::int64_t left = share.count; left > 0;) {
        const std::int64_t part = std::min(left, wanted);
        places.push_back({set->first, share.node, part});
        left -= part;
        wanted -= part;
        if (wanted == 0 && ++set != sets.end()) {
          wanted = set->second;
        }
      }
    }
  }
  if (shape.groups.size() <= 1) {
    return places;
  }
  // Groups come hardest first; the answer goes by pod set.
  std::vector<HeldSlot> ordered;
  ordered.reserve(places.size());
  for (std::uint32_t set = 0; set < shape.sets.size(); ++set) {
    std::copy_if(places.begin(), places.end(), std::back_inserter(ordered),
                 [&](const HeldSlot& place) { return place.pod_set == set; });
  }
  return ordered;
}

std::vector<QuotaShortage> quota_beyond(const State& state, const Run& run) {
  std::vector<QuotaShortage> beyond;
  state.forest.each_on_path(run.leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (!node.binding()) {
      return;
    }
    for (const Part& limit : node.limits) {
      const Amount own = amount_of(run.charge, limit.resource);
      const Amount used = amount_of(node.used, limit.resource);
      if (own > 0 && used > limit.amount) {
        beyond.push_back({index, limit.resource, limit.amount, used - own, own});
      }
    }
  });
  return beyond;
}

void begin_run(State& state, Index gang, const std::vector<Share>& shares, Time now) {
  const Index index = state.gangs.add_run(gang);
  Run& run = state.gangs.run(index);
  const Gang& starting = state.gangs[gang];
  run.started = now;
  run.places = places_of(state.shapes[starting.shape], shares);
  run.leaves = state.claims.path_of(starting.claim).leaves;
  run.charge = state.shapes[starting.shape].charge;
  for (const HeldSlot& place : run.places) {
    state.cluster.add_resident(place.node, gang, place.count);
  }
  state.forest.charge(run.leaves, run.charge, +1);
  join_ranks(state, run);
}

void end_run(State& state, Index gang, bool and_promote) {
  Run& run = state.gangs.run_of(gang);
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    state.cluster.give(node, request, count);
    state.cluster.drop_resident(node, gang, count);
  });
  state.forest.charge(run.leaves, run.charge, -1);
  leave_ranks(state, run);
  if (state.gangs[gang].elastic != kNone) {
    end_elastic(state, state.gangs[gang].elastic);
  }
  const std::vector<Index> leaves = run.leaves;
  state.gangs.remove_run(state.gangs[gang].run);
  if (and_promote) {
    promote(state, leaves);
  }
}

void lift(State& state, const Run& run) {
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    state.cluster.give(node, request, count);
  });
  state.forest.charge_quietly(run.leaves, run.charge, -1);
}

void restore(State& state, const Run& run) {
  each_holding(state, run, [&](Index node, const Request& request, std::int64_t count) {
    state.cluster.take(node, request, count);
  });
  state.forest.charge_quietly(run.leaves, run.charge, +1);
}

void recharge(State& state, Run& run, const Request& less, const Request& more) {
  if (less == more) {
    return;
  }
  const bool ranked = run.ranked;
  if (ranked) {
    leave_ranks(state, run);
  }
  state.forest.charge(run.leaves, run.charge, -1);
  add(run.charge, less, -1);
  add(run.charge, more, +1);
  state.forest.charge(run.leaves, run.charge, +1);
  if (ranked) {
    join_ranks(state, run);
  }
  promote(state, run.leaves);
}

std::optional<Time> predicted_end(const Gang& gang, const Run& run, Time now) {
  if (gang.state == GangState::draining) {
    return now;
  }
  if (gang.expected > Duration::zero() && run.started + gang.expected > now) {
    return run.started + gang.expected;
  }
  if (gang.limit > Duration::zero()) {
    return std::max(now, run.started + (gang.limit - gang.consumed));
  }
  // Overdue: any moment now.
  if (gang.expected > Duration::zero()) {
    return now;
  }
  return std::nullopt;
}

Placement placement_of(const State& state, const Run& run) {
  Placement placement;
  placement.reserve(run.places.size());
  for (const HeldSlot& place : run.places) {
    const NodeId node{place.node, state.cluster.nodes()[place.node].generation};
    placement.push_back({place.pod_set, node, place.count});
  }
  return placement;
}

std::optional<DomainValues> home_of(const State& state, const Run& run) {
  const Shape& shape = state.shapes[state.gangs[run.gang].shape];
  std::optional<DomainValues> home;
  if (shape.within.keys.empty() || shape.groups.empty()) {
    return home;
  }
  const Kind& kind = state.cluster.kind(shape.groups.front().kind);
  each_holding(state, run, [&](Index node, const Request&, std::int64_t) {
    DomainValues values = state.cluster.domain_of(kind, node);
    if (!home && values.size() == shape.within.keys.size()) {
      home = std::move(values);
    }
  });
  return home;
}

}  // namespace codeflare::sched
