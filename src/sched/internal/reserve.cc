#include "sched/internal/reserve.h"

#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/order.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

bool ends_by(const State& state, Index gang, const std::optional<Time>& limit, Time now) {
  if (!limit) {
    return true;
  }
  const auto end = predicted_end(state.gangs[gang], state.gangs.run_of(gang), now);
  return end && *end <= std::max(*limit, now);
}

bool returns_growth(const State& state, Index gang, const std::vector<Index>& givers) {
  const Index elastic = state.gangs[gang].elastic;
  return elastic != kNone && std::find(givers.begin(), givers.end(), elastic) != givers.end();
}

// Growth on this node that its gang gives back when asked.
void add_returnable(const State& state, Index gang, const std::vector<Index>& givers, Index node,
                    std::vector<Amount>& left) {
  if (!returns_growth(state, gang, givers)) {
    return;
  }
  const Elastic& elastic = state.elastics[state.gangs[gang].elastic];
  const std::int64_t count =
      on_node(elastic.grown, node) + on_node(elastic.coming, node) + on_node(elastic.leaving, node);
  for (const Part& part : elastic_request(state, elastic)) {
    left[part.resource] += part.amount * count;
  }
}

Request returnable_charge(const State& state, Index gang, const std::vector<Index>& givers) {
  Request charge;
  if (returns_growth(state, gang, givers)) {
    const Elastic& elastic = state.elastics[state.gangs[gang].elastic];
    add(charge, elastic_set(state, elastic).charge,
        total(elastic.grown) + total(elastic.coming) + total(elastic.leaving));
  }
  return charge;
}

}  // namespace

bool reserves_before(const State& state, Index lane, Index other, Time now) {
  const Lane& a = state.lanes[lane];
  const Lane& b = state.lanes[other];
  if (a.turns != b.turns) {
    return a.turns < b.turns;
  }
  return ahead(state.gangs[a.heap.front()], state.gangs[b.heap.front()], now);
}

bool gone_in_time(const Reservation& reservation, Duration limit, Time now) {
  return limit > Duration::zero() && reservation.starts && now + limit <= *reservation.starts;
}

Fence::Fence(const State& state, const Reservation& reservation, Time now) {
  const Index width = state.cluster.order().resources;
  const std::vector<Index> givers = growth_givers(state, reservation.gang);
  for (const auto& [node, request] : reservation.nodes) {
    const Amount* free = state.cluster.free(node);
    std::vector<Amount> left(free, free + width);
    for (const Resident& resident : state.cluster.nodes()[node].residents) {
      if (!ends_by(state, resident.gang, reservation.starts, now)) {
        add_returnable(state, resident.gang, givers, node, left);
        continue;
      }
      each_holding(state, state.gangs.run_of(resident.gang),
                   [&](Index at, const Request& held, std::int64_t count) {
                     if (at != node) {
                       return;
                     }
                     for (const Part& part : held) {
                       left[part.resource] += part.amount * count;
                     }
                   });
    }
    for (const Part& part : request) {
      left[part.resource] -= part.amount;
    }
    nodes_.left.emplace(node, std::move(left));
  }
  const Gang& holder = state.gangs[reservation.gang];
  const Request& wanted = state.shapes[holder.shape].charge;
  state.forest.each_on_path(state.claims.path_of(holder.claim).leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (!node.binding()) {
      return;
    }
    for (const Part& limit : node.limits) {
      quota_[index][limit.resource] =
          limit.amount - amount_of(node.used, limit.resource) - amount_of(wanted, limit.resource);
    }
  });
  if (quota_.empty()) {
    return;
  }
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone) {
      continue;
    }
    const bool ends = ends_by(state, run.gang, reservation.starts, now);
    const Request comes_free = ends ? run.charge : returnable_charge(state, run.gang, givers);
    state.forest.each_on_path(run.leaves, [&](Index index) {
      const auto left = quota_.find(index);
      if (left == quota_.end()) {
        return;
      }
      for (auto& [resource, amount] : left->second) {
        amount += amount_of(comes_free, resource);
      }
    });
  }
}

bool Fence::lets_pass(const State& state, const std::vector<Index>& leaves,
                      const Request& charge) const {
  bool passes = true;
  state.forest.each_on_path(leaves, [&](Index index) {
    const auto left = quota_.find(index);
    if (left == quota_.end()) {
      return;
    }
    for (const auto& [resource, amount] : left->second) {
      const Amount asked = amount_of(charge, resource);
      if (asked > 0 && asked > amount) {
        passes = false;
      }
    }
  });
  return passes;
}

void Fence::charge(const State& state, const std::vector<Index>& leaves, const Request& charge) {
  state.forest.each_on_path(leaves, [&](Index index) {
    const auto left = quota_.find(index);
    if (left == quota_.end()) {
      return;
    }
    for (auto& [resource, amount] : left->second) {
      amount -= amount_of(charge, resource);
    }
  });
}

bool reserve(State& state, Index lane, Time now) {
  Lane& candidate = state.lanes[lane];
  if (candidate.no_reserve_at == state.nodes_version) {
    return false;
  }
  const Index gang = candidate.heap.front();
  const auto future = forecast(state, gang, now);
  if (!future) {
    candidate.no_reserve_at = state.nodes_version;
    return false;
  }
  const bool same = state.reservation && state.reservation->lane == lane;
  Reservation made{gang, lane, same ? state.reservation->since : now, future->starts, {}};
  std::map<Index, Request> nodes;
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  for (const Share& share : future->shares) {
    add(nodes[share.node], state.cluster.kind(shape.groups[share.group].kind).request, share.count);
  }
  made.nodes.assign(nodes.begin(), nodes.end());
  state.reservation = std::move(made);
  state.reservation_stale = false;
  wake_behind_reservation(state);
  return true;
}

void drop_reservation(State& state) {
  if (!state.reservation) {
    return;
  }
  state.reservation.reset();
  state.reservation_stale = false;
  wake_behind_reservation(state);
}

}  // namespace codeflare::sched
