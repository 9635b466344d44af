#pragma once

#include "sched/internal/growth.h"
#include "sched/internal/state.h"

#include <optional>
#include <vector>

namespace codeflare::sched {

// "What if these gangs were gone?" for one waiting gang: lifts running gangs off the nodes and
// quotas of the state itself, and restores every one of them. Counts the places that lifting gains,
// so that placement is tried only when it may have become possible.
class Lifting {
 public:
  Lifting(State& state, Index gang);
  // For something else that is to be placed, and charged to these quota nodes.
  Lifting(State& state, const Shape& shape, std::vector<Index> leaves);
  ~Lifting();
  Lifting(const Lifting&) = delete;
  Lifting& operator=(const Lifting&) = delete;

  void lift(Index gang);
  // Any of them; the last one is the cheapest, as what was learnt before it stays valid.
  void restore(Index gang);
  void restore_all();
  const std::vector<Index>& lifted() const { return lifted_; }

  // Some places of an elastic gang. If the whole gang is lifted later, they are part of it.
  void lift_growth(const TakenGrowth& growth);
  void restore_growth(const TakenGrowth& growth);
  // Places that others are leaving already.
  void lift_leaving();
  const std::vector<TakenGrowth>& growth() const { return growth_; }

  // Quota has room, and not provably too few places.
  bool may_fit() const { return !shortage() && memory_.gained >= memory_.missing; }
  std::optional<QuotaShortage> shortage() const;
  // On success its places are taken: unplace, or keep them and restore around them.
  Placed try_place();
  void unplace(const Placed& placed);

  // Places that lifting this gang would add for the group that was short when placement last
  // failed; any positive number if groups did not fit together.
  std::int64_t gain(Index gang) const;
  // By what is known, lifting this gang alone would add enough places.
  bool may_be_enough(Index gang) const {
    return !memory_.failure || memory_.gained + gain(gang) >= memory_.missing;
  }
  // It holds something that is asked for where it is asked for, if not enough by itself.
  bool in_the_way(Index gang) const;

  // The lesson of the last failure; recall it only where the same gangs are lifted as then.
  struct Memory {
    std::optional<Placed> failure;
    std::int64_t missing = 0;
    std::int64_t gained = 0;
  };
  const Memory& memory() const { return memory_; }
  void recall(const Memory& memory) { memory_ = memory; }

 private:
  void move_growth(const TakenGrowth& growth, int sign);
  bool lifted_whole(const TakenGrowth& growth) const;
  // Growth of the gang goes back before all of it is lifted, and the other way round.
  void move_growth_of(Index gang, int sign);

  State& state_;
  const Shape& shape_;
  std::vector<Index> leaves_;
  std::vector<Index> lifted_;
  std::vector<TakenGrowth> growth_;
  std::vector<TakenGrowth> leaving_;
  Memory memory_;
};

}  // namespace codeflare::sched
