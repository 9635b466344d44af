#include "base/check.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/quota_ranks.h"
#include "sched/sizes.h"

#include <algorithm>
#include <utility>

namespace codeflare::sched {

namespace {

void add_place(Run& run, std::uint32_t pod_set, Index node, std::int64_t count) {
  const auto same = std::ranges::find_if(run.places, [&](const HeldSlot& place) {
    return place.pod_set == pod_set && place.node == node;
  });
  if (same == run.places.end()) {
    run.places.push_back({pod_set, node, count});
  } else {
    same->count += count;
  }
}

// The minimum's charge stays as it is, so ranks do.
void charge_growth(State& state, const Elastic& elastic, std::int64_t count) {
  Run& run = state.gangs.run_of(elastic.gang);
  Request amount;
  add(amount, elastic_set(state, elastic).charge, std::abs(count));
  const int sign = count < 0 ? -1 : +1;
  state.forest.charge(run.leaves, amount, sign);
  add(run.charge, amount, sign);
}

Resize& resize_of(StepResult& result, GangId gang, std::optional<GangId> for_gang) {
  const auto known = std::ranges::find_if(result.resized, [&](const Resize& each) {
    return each.gang == gang && each.for_gang == for_gang;
  });
  if (known != result.resized.end()) {
    return *known;
  }
  result.resized.push_back({.gang = gang, .for_gang = for_gang});
  return result.resized.back();
}

void put_slot(Placement& placement, std::uint32_t pod_set, NodeId node, std::int64_t count) {
  const auto same =
      std::ranges::find_if(placement, [&](const Slot& slot) { return slot.node == node; });
  if (same == placement.end()) {
    placement.push_back({pod_set, node, count});
  } else {
    same->count += count;
  }
}

// Withdraws growth that this very step has given.
std::int64_t take_back(State& state, Elastic& elastic, Index node, std::int64_t count,
                       StepResult& result) {
  const GangId gang = state.gangs.id(elastic.gang);
  const NodeId id{node, state.cluster.nodes()[node].generation};
  std::int64_t taken = 0;
  for (Resize& each : result.resized) {
    if (each.gang != gang) {
      continue;
    }
    for (Slot& slot : each.more) {
      if (slot.node == id && taken < count) {
        const std::int64_t part = std::min(slot.count, count - taken);
        slot.count -= part;
        taken += part;
      }
    }
    std::erase_if(each.more, [](const Slot& slot) { return slot.count == 0; });
  }
  std::erase_if(result.resized,
                [](const Resize& each) { return each.more.empty() && each.less.empty(); });
  if (taken == 0) {
    return 0;
  }
  Run& run = state.gangs.run_of(elastic.gang);
  for (std::int64_t i = 0; i < taken; ++i) {
    const auto place = std::ranges::find_if(run.places, [&](const HeldSlot& each) {
      return each.pod_set == elastic.pod_set && each.node == node;
    });
    CHECK(place != run.places.end(), "growth that was given has no place");
    if (--place->count == 0) {
      run.places.erase(place);
    }
  }
  state.cluster.give(node, elastic_request(state, elastic), taken);
  state.cluster.drop_resident(node, elastic.gang, taken);
  take(elastic.grown, node, taken);
  charge_growth(state, elastic, -taken);
  // Room in the middle of a step: no node tells the next one of it.
  state.stir = state.growth_stir = true;
  return taken;
}

void note_resize(State& state, Index index, Time now) {
  Elastic& elastic = state.elastics[index];
  elastic.resized = now;
  elastic.ever_resized = true;
  if (const Duration pause = cooldown_of(state, elastic); pause > Duration::zero()) {
    state.elastics.cooling.insert({now + pause, index});
  }
}

void let_go(State& state, Index index, Index node, std::int64_t count,
            std::optional<GangId> for_gang, StepResult& result) {
  Elastic& elastic = state.elastics[index];
  count -= take_back(state, elastic, node, count, result);
  count = take(elastic.grown, node, count);
  if (count == 0) {
    return;
  }
  put(elastic.leaving, node, count);
  state.elastics.leaving += count;
  const NodeId id{node, state.cluster.nodes()[node].generation};
  put_slot(resize_of(result, state.gangs.id(elastic.gang), for_gang).less, elastic.pod_set, id,
           count);
}

}  // namespace

Duration cooldown_of(const State& state, const Elastic& elastic) {
  return elastic.sizes.cooldown.value_or(state.options.growth_cooldown);
}

const ShapeSet& elastic_set(const State& state, const Elastic& elastic) {
  return state.shapes[state.gangs[elastic.gang].shape].sets[elastic.pod_set];
}

const Request& elastic_request(const State& state, const Elastic& elastic) {
  return state.cluster.kind(elastic_set(state, elastic).kind).request;
}

Shape elastic_part(const State& state, const Elastic& elastic, std::int64_t count) {
  const Shape& whole = state.shapes[state.gangs[elastic.gang].shape];
  const ShapeSet& set = whole.sets[elastic.pod_set];
  Shape part;
  part.sets = whole.sets;
  part.within = whole.within;
  part.home = home_of(state, state.gangs.run_of(elastic.gang));
  part.pods = count;
  Group group{
      .kind = set.kind, .count = count, .sets = {{elastic.pod_set, count}}, .apart = set.apart};
  if (set.apart != 0) {
    each_holding(state, state.gangs.run_of(elastic.gang),
                 [&](Index node, const Request&, std::int64_t) { group.taken.push_back(node); });
  }
  part.groups.push_back(std::move(group));
  add(part.charge, set.charge, count);
  add(part.total, state.cluster.kind(set.kind).request, count);
  return part;
}

void begin_elastic(State& state, Index index, Time now) {
  Elastic& elastic = state.elastics[index];
  const Run& run = state.gangs.run_of(elastic.gang);
  std::int64_t held = 0;
  for (const HeldSlot& place : run.places) {
    held += place.pod_set == elastic.pod_set ? place.count : 0;
  }
  elastic.base = held;
  elastic.accrued = now;
  elastic.accruing = held;
  state.elastics.set_active(index, true);
  rebase(state, index);
}

void rebase(State& state, Index index) {
  Elastic& elastic = state.elastics[index];
  const std::int64_t minimum = elastic.sizes.min;
  while (elastic.base < minimum && !elastic.grown.empty()) {
    elastic.base += take(elastic.grown, elastic.grown.front().node, minimum - elastic.base);
  }
  if (elastic.base <= minimum) {
    return;
  }
  // The latest places are growth; reserved places are listed in the order in which they came.
  const Run& run = state.gangs.run_of(elastic.gang);
  std::vector<Index> nodes;
  for (const BoundPod& pod : run.pods) {
    if (pod.pod_set == elastic.pod_set) {
      nodes.push_back(pod.node);
    }
  }
  for (const HeldSlot& place : run.places) {
    if (place.pod_set == elastic.pod_set) {
      nodes.insert(nodes.end(), static_cast<std::size_t>(place.count), place.node);
    }
  }
  for (auto node = nodes.rbegin(); node != nodes.rend() && elastic.base > minimum; ++node) {
    const std::int64_t here = std::ranges::count(nodes, *node);
    if (on_node(elastic.grown, *node) + on_node(elastic.leaving, *node) < here) {
      put(elastic.grown, *node, 1);
      --elastic.base;
    }
  }
}

void end_elastic(State& state, Index index) {
  Elastic& elastic = state.elastics[index];
  state.elastics.leaving -= total(elastic.leaving);
  std::erase(state.elastics.coming, index);
  elastic.leaving.clear();
  elastic.grown.clear();
  elastic.coming.clear();
  elastic.ranked.clear();
  elastic.base = 0;
  elastic.ever_resized = false;
  state.elastics.queue_at(elastic.queue).held -= std::exchange(elastic.share, 0);
  state.elastics.set_active(index, false);
}

void stop_elastic(State& state, Index index) {
  cancel_coming(state, index);
  state.elastics.set_active(index, false);
}

void add_growth(State& state, Index index, const std::vector<Share>& shares, bool coming) {
  Elastic& elastic = state.elastics[index];
  Run& run = state.gangs.run_of(elastic.gang);
  std::int64_t count = 0;
  for (const Share& share : shares) {
    count += share.count;
    state.cluster.add_resident(share.node, elastic.gang, share.count);
    if (coming) {
      put(elastic.coming, share.node, share.count);
      continue;
    }
    put(elastic.grown, share.node, share.count);
    add_place(run, elastic.pod_set, share.node, share.count);
  }
  charge_growth(state, elastic, count);
  rebase(state, index);
  if (coming && std::ranges::find(state.elastics.coming, index) == state.elastics.coming.end()) {
    state.elastics.coming.push_back(index);
  }
}

void cancel_coming(State& state, Index index) {
  Elastic& elastic = state.elastics[index];
  if (elastic.coming.empty()) {
    return;
  }
  for (const GrownSlot& slot : elastic.coming) {
    state.cluster.give(slot.node, elastic_request(state, elastic), slot.count);
    state.cluster.drop_resident(slot.node, elastic.gang, slot.count);
  }
  const std::int64_t count = total(elastic.coming);
  elastic.coming.clear();
  charge_growth(state, elastic, -count);
  std::erase(state.elastics.coming, index);
  state.elastics.touch(index);
  state.stir = state.growth_stir = true;
}

void announce(State& state, Index index, const std::vector<Share>& shares, Time now,
              StepResult& result) {
  Elastic& elastic = state.elastics[index];
  Placement& more = resize_of(result, state.gangs.id(elastic.gang), std::nullopt).more;
  for (const Share& share : shares) {
    const NodeId node{share.node, state.cluster.nodes()[share.node].generation};
    put_slot(more, elastic.pod_set, node, share.count);
  }
  note_resize(state, index, now);
}

void arrive(State& state, Index index, Time now, StepResult& result) {
  Elastic& elastic = state.elastics[index];
  Run& run = state.gangs.run_of(elastic.gang);
  std::vector<Share> shares;
  for (const GrownSlot& slot : elastic.coming) {
    put(elastic.grown, slot.node, slot.count);
    add_place(run, elastic.pod_set, slot.node, slot.count);
    shares.push_back({0, slot.node, slot.count});
  }
  elastic.coming.clear();
  std::erase(state.elastics.coming, index);
  rebase(state, index);
  announce(state, index, shares, now, result);
  state.elastics.touch(index);
}

void lose_elastic(State& state, Index index, Index node, std::int64_t count) {
  Elastic& elastic = state.elastics[index];
  const std::int64_t left = take(elastic.leaving, node, count);
  state.elastics.leaving -= left;
  count -= left;
  count -= take(elastic.grown, node, count);
  elastic.base -= count;
  rebase(state, index);
  if (elastic.active) {
    state.elastics.touch(index);
  }
}

void lose_elastic_place(State& state, Index gang, std::uint32_t pod_set, Index node) {
  const Index elastic = state.gangs[gang].elastic;
  if (elastic != kNone && state.elastics[elastic].pod_set == pod_set) {
    lose_elastic(state, elastic, node, 1);
  }
}

void move_elastic(State& state, Index gang, std::uint32_t pod_set, Index from, Index to) {
  const Index index = state.gangs[gang].elastic;
  if (index == kNone || state.elastics[index].pod_set != pod_set) {
    return;
  }
  Elastic& elastic = state.elastics[index];
  for (GrownSlots* slots : {&elastic.grown, &elastic.leaving}) {
    if (take(*slots, from, 1) == 1) {
      put(*slots, to, 1);
      return;
    }
  }
}

void add_elastic_holdings(const State& state, Index node, std::vector<Amount>& row) {
  for (const Resident& resident : state.cluster.nodes()[node].residents) {
    const Gang& gang = state.gangs[resident.gang];
    if (gang.elastic == kNone || gang.run == kNone) {
      continue;
    }
    each_holding(state, state.gangs.run(gang.run),
                 [&](Index at, const Request& held, std::int64_t count) {
                   if (at != node) {
                     return;
                   }
                   for (const Part& part : held) {
                     row[part.resource] += part.amount * count;
                   }
                 });
  }
}

void shrink(State& state, const std::vector<TakenGrowth>& taken, std::optional<GangId> for_gang,
            Time now, StepResult& result) {
  std::vector<Index> givers;
  for (const TakenGrowth& each : taken) {
    if (each.coming) {
      cancel_coming(state, each.elastic);
    } else {
      let_go(state, each.elastic, each.node, each.count, for_gang, result);
    }
    if (std::ranges::find(givers, each.elastic) == givers.end()) {
      givers.push_back(each.elastic);
    }
  }
  for (const Index giver : givers) {
    Elastic& elastic = state.elastics[giver];
    std::int64_t more = elastic.planned() - size_within(elastic.sizes, elastic.planned());
    if (more > 0) {
      cancel_coming(state, giver);
      more = elastic.planned() - size_within(elastic.sizes, elastic.planned());
    }
    while (more > 0 && !elastic.grown.empty()) {
      const GrownSlot last = elastic.grown.back();
      const std::int64_t part = std::min(more, last.count);
      let_go(state, giver, last.node, part, for_gang, result);
      more -= part;
    }
    note_resize(state, giver, now);
    state.elastics.touch(giver);
  }
}

}  // namespace codeflare::sched
