#include "sched/internal/line.h"

#include "sched/internal/growth.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

LaneKey key_of(const State& state, const Gang& gang) {
  LaneKey key{gang.shape, state.claims[gang.claim].path};
  if (state.options.priority_slope) {
    key.slope = gang.slope;
  }
  if (state.options.holding_time > Duration::zero() && gang.limit > Duration::zero()) {
    key.limit = std::max(gang.limit - gang.consumed, Duration(1));
  }
  return key;
}

// A lane that comes late does not jump the queue of turns.
std::uint32_t fewest_turns(const State& state) {
  std::uint32_t fewest = 0;
  bool any = false;
  for (const Lane& lane : state.lanes.all()) {
    if (!lane.alive || lane.heap.empty()) {
      continue;
    }
    fewest = any ? std::min(fewest, lane.turns) : lane.turns;
    any = true;
  }
  return fewest;
}

void wake_shape(State& state, Alarms::Woken whom) {
  Shape& shape = state.shapes[whom.shape];
  if (!shape.asleep || shape.nap != whom.nap) {
    return;
  }
  shape.asleep = false;
  shape.hopes = true;
  state.hoping.push_back(whom.shape);
  for (const Index lane : shape.lanes) {
    if (waits_for_places(state.lanes[lane].why)) {
      make_ready(state, lane);
    }
  }
}

// Enough for any gang; keeps sums of gains far from overflow.
constexpr std::int64_t kPlacesMax = std::int64_t{1} << 40;

void ring_for(State& state, Index node, std::vector<Alarms::Woken>& woken) {
  const Cluster& cluster = state.cluster;
  bool fresh = cluster.nodes()[node].fresh;
  const Amount* free = cluster.free(node);
  std::vector<Amount> row;
  if (state.elastics.active() > 0) {
    // Waiting gangs may get places that elastic gangs hold there.
    row.assign(free, free + cluster.order().resources);
    add_elastic_holdings(state, node, row);
    row.resize(std::max<std::size_t>(row.size(), KindNeed::kColumns));
    free = row.data();
    fresh = true;
  }
  for (const KindNeed& need : cluster.node_class(cluster.nodes()[node].node_class).kinds) {
    if (!need.may_fit(free) || !state.alarms.armed(need.kind)) {
      continue;
    }
    const Kind& waiting = cluster.kind(need.kind);
    // Divisions are expensive: count only as far as anybody waits, from zero where it did not fit
    // before.
    const std::int64_t before = fresh ? 0 : times(cluster.seen(node), waiting.request, kPlacesMax);
    const std::int64_t most = before > 0 ? kPlacesMax : state.alarms.farthest(need.kind);
    const std::int64_t now = times(free, waiting.request, most);
    if (now == 0 || !cluster.allows(waiting, node)) {
      continue;
    }
    state.alarms.ring(need.kind, now - before, woken);
  }
}

bool grew(const Cluster& cluster, Index node) {
  if (cluster.nodes()[node].fresh) {
    return true;
  }
  const Amount* now = cluster.free(node);
  const Amount* before = cluster.seen(node);
  for (Index r = 0; r < cluster.order().resources; ++r) {
    if (now[r] > before[r]) {
      return true;
    }
  }
  return false;
}

// Whether the node, without any gang, could hold a pod of the lane.
bool could_hold(const State& state, const Shape& shape, Index node) {
  const Cluster& cluster = state.cluster;
  return std::any_of(shape.groups.begin(), shape.groups.end(), [&](const Group& group) {
    const Kind& kind = cluster.kind(group.kind);
    const auto& classes = kind.classes;
    if (std::find(classes.begin(), classes.end(), cluster.nodes()[node].node_class) ==
        classes.end()) {
      return false;
    }
    return std::all_of(kind.request.begin(), kind.request.end(), [&](const Part& part) {
      return cluster.potential(node, part.resource) >= part.amount;
    });
  });
}

// With preemption a lane waits for room and for victims: any node that grew may complete both.
void wake_preemptors(State& state, const std::vector<Index>& grown) {
  constexpr std::size_t kLooksMax = 64;
  const auto& lanes = state.lanes.all();
  for (Index lane = 0; lane < lanes.size(); ++lane) {
    if (!lanes[lane].alive || lanes[lane].ready) {
      continue;
    }
    const Shape& shape = state.shapes[lanes[lane].key.shape];
    if (grown.size() > kLooksMax || std::any_of(grown.begin(), grown.end(), [&](Index node) {
          return could_hold(state, shape, node);
        })) {
      make_ready(state, lane);
    }
  }
}

}  // namespace

void make_ready(State& state, Index lane) {
  Lane& woken = state.lanes[lane];
  if (woken.ready || woken.heap.empty()) {
    return;
  }
  woken.ready = true;
  ++woken.nap;
  if (state.options.preemption) {
    state.shapes[woken.key.shape].asleep = false;
  }
  state.ready.push_back(lane);
}

void enqueue(State& state, Index gang) {
  Gang& joining = state.gangs[gang];
  joining.state = GangState::waiting;
  if (!joining.fresh) {
    joining.fresh = true;
    state.fresh.push_back(gang);
  }
  if (joining.held) {
    return;
  }
  const LaneKey key = key_of(state, joining);
  Index lane = state.lanes.find(key);
  const bool added = lane == kNone;
  if (added) {
    const std::uint32_t turns =
        state.options.holding_time > Duration::zero() ? fewest_turns(state) : 0;
    lane = state.lanes.acquire(key);
    state.lanes[lane].turns = turns;
    state.shapes[joining.shape].lanes.push_back(lane);
  }
  state.lanes.push(state.gangs, lane, gang);
  // A new head has the same needs, but may have the priority to evict others.
  if (added || (state.others_give_way() && state.lanes.head(lane) == gang)) {
    make_ready(state, lane);
  }
}

void dequeue(State& state, Index gang) {
  const Index lane = state.gangs[gang].lane;
  if (lane == kNone) {
    return;
  }
  state.lanes.erase(state.gangs, gang);
  if (!state.lanes[lane].heap.empty()) {
    return;
  }
  auto& lanes = state.shapes[state.gangs[gang].shape].lanes;
  lanes.erase(std::find(lanes.begin(), lanes.end(), lane));
  if (lanes.empty()) {
    // Nobody is left to be woken.
    state.shapes[state.gangs[gang].shape].asleep = false;
  }
  state.lanes.remove(lane);
}

void requeue_all(State& state) {
  std::vector<Index> waiting;
  for (Index gang = 0; gang < state.gangs.all().size(); ++gang) {
    if (state.gangs[gang].lane != kNone) {
      waiting.push_back(gang);
    }
  }
  for (const Index gang : waiting) {
    dequeue(state, gang);
  }
  for (const Index gang : waiting) {
    enqueue(state, gang);
  }
}

void put_to_sleep(State& state, Index shape, const Placed& placed) {
  Shape& tired = state.shapes[shape];
  tired.asleep = true;
  ++tired.nap;
  reason_now(state, shape);
  tired.cut_short = placed.cut_short;
  tired.hopes = false;
  tired.short_group = placed.outcome == Placed::Outcome::short_of_places ? placed.group : kNone;
  const Alarms::Woken whom{shape, tired.nap};
  // Places of elastic gangs may come free as well: how much is missing then is not known.
  const bool counted = state.elastics.active() == 0;
  if (!counted) {
    tired.short_group = kNone;
  }
  if (counted && placed.outcome == Placed::Outcome::short_of_places) {
    state.alarms.set(tired.groups[placed.group].kind, placed.missing, whom);
    return;
  }
  for (const Group& group : tired.groups) {
    state.alarms.set_any(group.kind, whom);
  }
}

std::vector<Index> wake_by_growth(State& state) {
  std::vector<Index> grown;
  for (const Index node : state.cluster.dirty()) {
    if (grew(state.cluster, node)) {
      grown.push_back(node);
    }
  }
  if (state.elastics.active() > 0) {
    state.grown_nodes.insert(state.grown_nodes.end(), grown.begin(), grown.end());
  }
  if (!grown.empty()) {
    if (state.options.preemption) {
      wake_preemptors(state, grown);
    } else {
      std::vector<Alarms::Woken> woken;
      for (const Index node : grown) {
        ring_for(state, node, woken);
      }
      for (const Alarms::Woken& whom : woken) {
        wake_shape(state, whom);
      }
    }
    wake_behind_reservation(state);
  }
  state.cluster.settle();
  return grown;
}

bool grew_since_wake(const State& state) {
  const auto& dirty = state.cluster.dirty();
  return std::any_of(dirty.begin(), dirty.end(),
                     [&](Index node) { return grew(state.cluster, node); });
}

void lull_again(State& state, Index shape) {
  Shape& tired = state.shapes[shape];
  tired.asleep = true;
  tired.hopes = false;
  ++tired.nap;
  const Alarms::Woken whom{shape, tired.nap};
  if (tired.short_group != kNone) {
    state.alarms.set(tired.groups[tired.short_group].kind, 1, whom);
    return;
  }
  for (const Group& group : tired.groups) {
    state.alarms.set_any(group.kind, whom);
  }
}

void wake_by_relief(State& state) {
  const std::vector<Index> relieved = state.forest.take_relieved();
  for (const Index index : relieved) {
    QuotaState& node = state.forest[index];
    std::erase_if(node.waiters, [&](const QuotaState::Waiter& waiter) {
      if (state.lanes[waiter.lane].nap != waiter.nap) {
        return true;
      }
      for (const Part& limit : node.limits) {
        if (limit.resource == waiter.resource &&
            limit.amount - amount_of(node.used, limit.resource) < waiter.need) {
          return false;
        }
      }
      make_ready(state, waiter.lane);
      return true;
    });
  }
  state.growth_stir = state.growth_stir || !relieved.empty();
  if (relieved.empty() || !state.others_give_way()) {
    return;
  }
  // A gang that uses less of its share may reclaim from others: look at all lanes below.
  for (Index lane = 0; lane < state.lanes.all().size(); ++lane) {
    if (!state.lanes[lane].alive) {
      continue;
    }
    state.forest.each_on_path(
        state.claims.path(state.lanes[lane].key.path).leaves, [&](Index node) {
          if (std::find(relieved.begin(), relieved.end(), node) != relieved.end()) {
            make_ready(state, lane);
          }
        });
  }
}

void wake_all(State& state) {
  for (Index lane = 0; lane < state.lanes.all().size(); ++lane) {
    if (!state.lanes[lane].alive) {
      continue;
    }
    Shape& shape = state.shapes[state.lanes[lane].key.shape];
    shape.asleep = shape.hopes = false;
    make_ready(state, lane);
  }
}

void wake_behind_reservation(State& state) {
  if (state.options.holding_time <= Duration::zero()) {
    return;
  }
  for (Index lane = 0; lane < state.lanes.all().size(); ++lane) {
    if (state.lanes[lane].alive && state.lanes[lane].why == Reason::reserved) {
      make_ready(state, lane);
    }
  }
}

}  // namespace codeflare::sched
