#pragma once

#include "sched/internal/lifting.h"
#include "sched/internal/state.h"

#include <optional>
#include <vector>

namespace codeflare::sched {

struct Victim {
  Index gang = kNone;
  EvictionCause cause = EvictionCause::priority;
};

// Chooses whom one waiting gang may evict. `bound` is the rank that it must reach: the deepest
// quota depth at which it may still borrow once the victims are gone.
//   priority: a lower priority, and a rank that is not better than the bound;
//   reclaim: the victim borrows below the node where both quota paths meet, the gang stays within
//   its limits there, and the victim's rank is worse than the bound.
class VictimSearch {
 public:
  VictimSearch(State& state, Index gang, Lifting& lifting, Index bound);

  // Leaves the chosen ones lifted; nothing beyond what was lifted before if there is no choice.
  std::optional<std::vector<Victim>> run();

 private:
  std::optional<EvictionCause> may_evict(Index victim) const;
  bool reclaims(const Run& victim, Index leaf) const;
  Index meeting_point(Index leaf, Index other) const;
  Index child_towards(Index from, Index above) const;
  bool within_limits_below(Index leaf, Index above) const;

  void collect_candidates();
  void collect_pausable();
  // Lifts and restores; a lifted victim's rank goes with it.
  void evict(Index gang);
  void spare(Index gang);

  // All that must hold for the victims lifted now: quota, rank, rules, and a place.
  bool suffices();
  // The obstacle that remains with the victims lifted now.
  struct Obstacle {
    std::optional<QuotaShortage> shortage;
    bool rank = false;
  };
  Obstacle obstacle() const;
  // Whether the candidate's end would bring the end of the obstacle closer.
  bool helps(const Obstacle& obstacle, Index candidate) const;
  bool rank_reached() const;
  bool find_one();
  bool find_many();
  void spare_needless();

  State& state_;
  const Gang& gang_;
  const Request& charge_;
  const std::vector<Index>& leaves_;
  Lifting& lifting_;
  Index bound_;
  std::vector<Index> candidates_;  // the weakest first
  std::vector<Index> victims_;     // in that order
};

}  // namespace codeflare::sched
