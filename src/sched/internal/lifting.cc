#include "sched/internal/lifting.h"

#include "base/check.h"
#include "sched/internal/holdings.h"

#include <algorithm>
#include <map>

namespace codeflare::sched {

namespace {

std::int64_t gain_for(const State& state, const Kind& kind,
                      const std::map<Index, Request>& holdings, std::int64_t most) {
  const Cluster& cluster = state.cluster;
  std::int64_t gained = 0;
  std::vector<Amount> row;
  for (const auto& [node, held] : holdings) {
    const auto& classes = kind.classes;
    const Index home = cluster.nodes()[node].node_class;
    if (std::find(classes.begin(), classes.end(), home) == classes.end()) {
      continue;
    }
    if (!cluster.allows(kind, node)) {
      continue;
    }
    row.assign(cluster.free(node), cluster.free(node) + cluster.order().resources);
    const std::int64_t before = times(row.data(), kind.request, most);
    for (const Part& part : held) {
      row[part.resource] += part.amount;
    }
    gained += times(row.data(), kind.request, most) - before;
    // Several kinds on one node may need the sum of two small gains.
    if (most == 0 && fits(row.data(), kind.request)) {
      ++gained;
    }
  }
  return gained;
}

}  // namespace

Lifting::Lifting(State& state, Index gang)
    : state_(state),
      shape_(state.shapes[state.gangs[gang].shape]),
      leaves_(state.claims.path_of(state.gangs[gang].claim).leaves) {}

Lifting::Lifting(State& state, const Shape& shape, std::vector<Index> leaves)
    : state_(state), shape_(shape), leaves_(std::move(leaves)) {}

Lifting::~Lifting() {
  CHECK(lifted_.empty() && growth_.empty() && leaving_.empty(), "lifted gangs were not restored");
}

void Lifting::move_growth(const TakenGrowth& growth, int sign) {
  const Elastic& elastic = state_.elastics[growth.elastic];
  state_.cluster.take(growth.node, elastic_request(state_, elastic), sign * growth.count);
  Request charge;
  add(charge, elastic_set(state_, elastic).charge, growth.count);
  state_.forest.charge_quietly(state_.gangs.run_of(elastic.gang).leaves, charge, sign);
  // Gains were counted without it.
  memory_ = Memory{};
}

void Lifting::move_growth_of(Index gang, int sign) {
  if (state_.gangs[gang].elastic == kNone) {
    return;
  }
  for (const auto* all : {&growth_, &leaving_}) {
    for (const TakenGrowth& each : *all) {
      if (state_.elastics[each.elastic].gang == gang) {
        move_growth(each, sign);
      }
    }
  }
}

bool Lifting::lifted_whole(const TakenGrowth& growth) const {
  return std::ranges::find(lifted_, state_.elastics[growth.elastic].gang) != lifted_.end();
}

void Lifting::lift_growth(const TakenGrowth& growth) {
  if (!lifted_whole(growth)) {
    move_growth(growth, -1);
  }
  growth_.push_back(growth);
}

void Lifting::restore_growth(const TakenGrowth& growth) {
  const auto found = std::ranges::find_if(growth_, [&](const TakenGrowth& each) {
    return each.elastic == growth.elastic && each.node == growth.node &&
           each.coming == growth.coming && each.count >= growth.count;
  });
  CHECK(found != growth_.end(), "growth is restored that was not lifted");
  found->count -= growth.count;
  if (found->count == 0) {
    growth_.erase(found);
  }
  if (!lifted_whole(growth)) {
    move_growth(growth, +1);
  }
}

void Lifting::lift_leaving() {
  if (state_.elastics.leaving == 0) {
    return;
  }
  for (Index index = 0; index < state_.elastics.all().size(); ++index) {
    const Gang* gang =
        state_.elastics[index].gang == kNone ? nullptr : &state_.gangs[state_.elastics[index].gang];
    // A gang that is lifted as a whole takes it along.
    if (gang == nullptr || gang->state == GangState::draining) {
      continue;
    }
    for (const GrownSlot& slot : state_.elastics[index].leaving) {
      leaving_.push_back({index, slot.node, slot.count});
      move_growth(leaving_.back(), -1);
    }
  }
}

std::optional<QuotaShortage> Lifting::shortage() const {
  return state_.forest.shortage(leaves_, shape_.charge);
}

std::int64_t Lifting::gain(Index gang) const {
  if (!memory_.failure) {
    return 1;
  }
  std::map<Index, Request> holdings;
  each_holding(state_, state_.gangs.run_of(gang),
               [&](Index node, const Request& request, std::int64_t count) {
                 add(holdings[node], request, count);
               });
  if (memory_.failure->outcome == Placed::Outcome::short_of_places) {
    const Group& group = shape_.groups[memory_.failure->group];
    return gain_for(state_, state_.cluster.kind(group.kind), holdings, group.count);
  }
  std::int64_t gained = 0;
  for (const Group& group : shape_.groups) {
    gained += gain_for(state_, state_.cluster.kind(group.kind), holdings, 0);
  }
  return gained;
}

bool Lifting::in_the_way(Index gang) const {
  const Cluster& cluster = state_.cluster;
  bool found = false;
  each_holding(
      state_, state_.gangs.run_of(gang), [&](Index node, const Request& held, std::int64_t) {
        const Index home = cluster.nodes()[node].node_class;
        for (Index group = 0; group < shape_.groups.size() && !found; ++group) {
          if (memory_.failure && memory_.failure->outcome == Placed::Outcome::short_of_places &&
              memory_.failure->group != group) {
            continue;
          }
          const Kind& kind = cluster.kind(shape_.groups[group].kind);
          const auto& classes = kind.classes;
          if (std::find(classes.begin(), classes.end(), home) == classes.end()) {
            continue;
          }
          if (!cluster.allows(kind, node)) {
            continue;
          }
          found = std::any_of(held.begin(), held.end(), [&](const Part& part) {
            return amount_of(kind.request, part.resource) > 0;
          });
        }
      });
  return found;
}

void Lifting::lift(Index gang) {
  if (memory_.failure) {
    memory_.gained += gain(gang);
  }
  const Memory counted = memory_;
  move_growth_of(gang, +1);
  memory_ = counted;
  sched::lift(state_, state_.gangs.run_of(gang));
  lifted_.push_back(gang);
}

void Lifting::restore(Index gang) {
  const auto found = std::find(lifted_.begin(), lifted_.end(), gang);
  CHECK(found != lifted_.end(), "a gang is restored that was not lifted");
  lifted_.erase(found);
  sched::restore(state_, state_.gangs.run_of(gang));
  move_growth_of(gang, -1);
  // Gains were counted with it: they no longer prove anything.
  memory_ = Memory{};
}

void Lifting::restore_all() {
  while (!lifted_.empty()) {
    restore(lifted_.back());
  }
  for (auto* all : {&growth_, &leaving_}) {
    for (const TakenGrowth& each : *all) {
      move_growth(each, +1);
    }
    all->clear();
  }
}

Placed Lifting::try_place() {
  Placed placed = place(state_.cluster, shape_, nullptr, state_.options.search_steps_max);
  if (!placed.ok()) {
    const bool counted = placed.outcome == Placed::Outcome::short_of_places;
    memory_ = {placed, counted ? placed.missing : 1, 0};
  }
  return placed;
}

void Lifting::unplace(const Placed& placed) {
  sched::unplace(state_.cluster, shape_, nullptr, placed.shares);
}

}  // namespace codeflare::sched
