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

Lifting::~Lifting() {
  CHECK(lifted_.empty(), "lifted gangs were not restored");
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
  sched::lift(state_, state_.gangs.run_of(gang));
  lifted_.push_back(gang);
}

void Lifting::restore(Index gang) {
  const auto found = std::find(lifted_.begin(), lifted_.end(), gang);
  CHECK(found != lifted_.end(), "a gang is restored that was not lifted");
  lifted_.erase(found);
  sched::restore(state_, state_.gangs.run_of(gang));
  // Gains were counted with it: they no longer prove anything.
  memory_ = Memory{};
}

void Lifting::restore_all() {
  while (!lifted_.empty()) {
    restore(lifted_.back());
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
