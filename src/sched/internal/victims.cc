#include "sched/internal/victims.h"

#include "sched/internal/holdings.h"
#include "sched/internal/quota_ranks.h"

#include <algorithm>

namespace codeflare::sched {

VictimSearch::VictimSearch(State& state, Index gang, Lifting& lifting, Index bound)
    : state_(state),
      gang_(state.gangs[gang]),
      charge_(state.shapes[gang_.shape].charge),
      leaves_(state.claims.path_of(gang_.claim).leaves),
      lifting_(lifting),
      bound_(bound) {}

Index VictimSearch::meeting_point(Index leaf, Index other) const {
  const QuotaForest& forest = state_.forest;
  while (leaf != other) {
    if (leaf == kNone || other == kNone) {
      return kNone;
    }
    if (forest[leaf].depth >= forest[other].depth) {
      leaf = forest[leaf].parent;
    } else {
      other = forest[other].parent;
    }
  }
  return leaf;
}

Index VictimSearch::child_towards(Index from, Index above) const {
  Index child = kNone;
  for (Index node = from; node != above; node = state_.forest[node].parent) {
    child = node;
  }
  return child;
}

// From the leaf up to below `above`, nothing is exceeded if the gang joins what is there now.
bool VictimSearch::within_limits_below(Index leaf, Index above) const {
  for (Index index = leaf; index != above; index = state_.forest[index].parent) {
    const QuotaState& node = state_.forest[index];
    for (const Part& limit : node.limits) {
      const Amount asked = amount_of(charge_, limit.resource);
      if (asked > 0 && amount_of(node.used, limit.resource) + asked > limit.amount) {
        return false;
      }
    }
  }
  return true;
}

bool VictimSearch::reclaims(const Run& victim, Index leaf) const {
  for (const Index other : victim.leaves) {
    if (state_.forest[other].tree != state_.forest[leaf].tree) {
      continue;
    }
    const Index meeting = meeting_point(leaf, other);
    if (meeting == kNone || meeting == leaf || meeting == other) {
      return false;
    }
    const Index branch = child_towards(other, meeting);
    const bool borrows =
        std::any_of(victim.borrowed_at.begin(), victim.borrowed_at.end(), [&](Index node) {
          return state_.forest[node].tree == state_.forest[leaf].tree &&
                 state_.forest[node].depth >= state_.forest[branch].depth;
        });
    return borrows && within_limits_below(leaf, meeting);
  }
  return false;
}

std::optional<EvictionCause> VictimSearch::may_evict(Index victim) const {
  const Gang& other = state_.gangs[victim];
  const Run& run = state_.gangs.run_of(victim);
  if (!other.preemptible) {
    return std::nullopt;
  }
  if (!state_.options.priority_slope && gang_.priority > other.priority && bound_ <= run.over) {
    return EvictionCause::priority;
  }
  if (bound_ >= run.over) {
    return std::nullopt;
  }
  for (const Index leaf : leaves_) {
    if (reclaims(run, leaf)) {
      return EvictionCause::reclaim;
    }
  }
  return std::nullopt;
}

void VictimSearch::collect_candidates() {
  if (!state_.options.preemption) {
    collect_pausable();
    return;
  }
  for (const WeakKey& key : state_.weakest) {
    if (candidates_.size() >= state_.options.victims_examined_max) {
      break;
    }
    // By the weakest order, nobody behind can be evicted without borrowing or lower priority.
    if (key.over == 0 && key.priority >= gang_.priority) {
      break;
    }
    candidates_.push_back(key.gang);
  }
}

// Without preemption an elastic gang may still pause elastic gangs of lower priority.
void VictimSearch::collect_pausable() {
  if (gang_.elastic == kNone || state_.options.priority_slope) {
    return;
  }
  std::vector<WeakKey> keys;
  for (const Elastic& elastic : state_.elastics.all()) {
    if (!elastic.active) {
      continue;
    }
    const Gang& other = state_.gangs[elastic.gang];
    if (other.pausable && other.priority < gang_.priority) {
      const Time started = state_.gangs.run_of(elastic.gang).started;
      keys.push_back({0, other.priority, started, other.name, elastic.gang});
    }
  }
  std::sort(keys.begin(), keys.end());
  for (const WeakKey& key : keys) {
    candidates_.push_back(key.gang);
  }
}

// The rank accounts stay as they are but for what `rank_reached` subtracts, so that the order of
// candidates does not change under the search.
void VictimSearch::evict(Index gang) {
  lifting_.lift(gang);
  victims_.push_back(gang);
}

void VictimSearch::spare(Index gang) {
  lifting_.restore(gang);
  std::erase(victims_, gang);
}

// Members among the victims leave room for the gang to be a member itself.
bool VictimSearch::rank_reached() const {
  if (!state_.options.preemption) {
    return true;
  }
  Index over = 0;
  state_.forest.each_on_path(leaves_, [&](Index index) {
    const QuotaState& node = state_.forest[index];
    if (node.binding()) {
      return;
    }
    for (const Part& limit : node.limits) {
      const Amount asked = amount_of(charge_, limit.resource);
      if (asked == 0) {
        continue;
      }
      Amount members = amount_of(node.members, limit.resource);
      for (const Index victim : victims_) {
        const Run& run = state_.gangs.run_of(victim);
        const bool member = std::find(run.borrowed_at.begin(), run.borrowed_at.end(), index) ==
                            run.borrowed_at.end();
        bool below = false;
        state_.forest.each_on_path(run.leaves, [&](Index on) { below = below || on == index; });
        if (member && below) {
          members -= amount_of(rank_charge(state_, run), limit.resource);
        }
      }
      if (members + asked > limit.amount) {
        over = std::max(over, node.depth);
      }
    }
  });
  return over <= bound_;
}

bool VictimSearch::suffices() {
  if (!lifting_.may_fit() || !rank_reached()) {
    return false;
  }
  for (const Index victim : victims_) {
    if (!may_evict(victim)) {
      return false;
    }
  }
  const Placed placed = lifting_.try_place();
  if (placed.ok()) {
    lifting_.unplace(placed);
  }
  return placed.ok();
}

VictimSearch::Obstacle VictimSearch::obstacle() const {
  return {lifting_.shortage(), !rank_reached()};
}

bool VictimSearch::helps(const Obstacle& obstacle, Index candidate) const {
  const Run& run = state_.gangs.run_of(candidate);
  const auto charges = [&](Index node) {
    bool found = false;
    state_.forest.each_on_path(run.leaves, [&](Index on) { found = found || on == node; });
    return found;
  };
  if (obstacle.shortage) {
    return charges(obstacle.shortage->node) &&
           amount_of(run.charge, obstacle.shortage->resource) > 0;
  }
  if (obstacle.rank) {
    bool shared = false;
    state_.forest.each_on_path(leaves_, [&](Index node) {
      shared = shared || (!state_.forest[node].binding() && charges(node));
    });
    return shared;
  }
  return lifting_.in_the_way(candidate);
}

bool VictimSearch::find_one() {
  const Lifting::Memory before = lifting_.memory();
  const Obstacle now = obstacle();
  for (const Index candidate : candidates_) {
    if (!helps(now, candidate) || !may_evict(candidate)) {
      continue;
    }
    if (!lifting_.may_be_enough(candidate)) {
      continue;
    }
    evict(candidate);
    if (suffices()) {
      return true;
    }
    spare(candidate);
    lifting_.recall(before);
  }
  return false;
}

bool VictimSearch::find_many() {
  while (!suffices()) {
    const Obstacle now = obstacle();
    const auto next = std::find_if(candidates_.begin(), candidates_.end(), [&](Index candidate) {
      return std::find(victims_.begin(), victims_.end(), candidate) == victims_.end() &&
             helps(now, candidate) && may_evict(candidate);
    });
    if (next == candidates_.end()) {
      while (!victims_.empty()) {
        spare(victims_.back());
      }
      return false;
    }
    evict(*next);
  }
  return true;
}

void VictimSearch::spare_needless() {
  // The strongest deserve it most.
  std::vector<Index> strongest_first;
  for (auto each = candidates_.rbegin(); each != candidates_.rend(); ++each) {
    if (std::find(victims_.begin(), victims_.end(), *each) != victims_.end()) {
      strongest_first.push_back(*each);
    }
  }
  for (const Index victim : strongest_first) {
    spare(victim);
    if (!suffices()) {
      evict(victim);
    }
  }
}

std::optional<std::vector<Victim>> VictimSearch::run() {
  collect_candidates();
  if (candidates_.empty()) {
    return std::nullopt;
  }
  if (!find_one()) {
    if (!find_many()) {
      return std::nullopt;
    }
    spare_needless();
  }
  std::vector<Victim> result;
  for (const Index victim : victims_) {
    result.push_back({victim, *may_evict(victim)});
  }
  return result;
}

}  // namespace codeflare::sched
