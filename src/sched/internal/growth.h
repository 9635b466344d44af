#pragma once

#include "sched/internal/growth_policy.h"
#include "sched/internal/state.h"

#include <optional>
#include <set>
#include <vector>

namespace codeflare::sched {

// --- holdings of an elastic gang beyond its minimum: books only, nothing is decided ---

// How long it does not grow after a resize.
Duration cooldown_of(const State& state, const Elastic& elastic);
const ShapeSet& elastic_set(const State& state, const Elastic& elastic);
// The request of one pod of it.
const Request& elastic_request(const State& state, const Elastic& elastic);
// `count` pods of it as something to be placed, beside those that it has.
Shape elastic_part(const State& state, const Elastic& elastic, std::int64_t count);

// It runs from now on: with its minimum, or with what it was adopted with.
void begin_elastic(State& state, Index elastic, Time now);
// Its run ends: nothing is grown, coming or leaving any more. Nodes and quota are the caller's.
void end_elastic(State& state, Index elastic);
// It is being stopped: no growth any more, and what was coming is given back.
void stop_elastic(State& state, Index elastic);
// The nodes have these places taken; `coming`: they are not free yet.
void add_growth(State& state, Index elastic, const std::vector<Share>& shares, bool coming);
void cancel_coming(State& state, Index elastic);
// Its coming places are free: the gang gets them.
void arrive(State& state, Index elastic, Time now, StepResult& result);
// Writes into the result that the gang grows.
void announce(State& state, Index elastic, const std::vector<Share>& shares, Time now,
              StepResult& result);
// Places of the set on this node are gone from the run: those that were leaving first, then growth.
void lose_elastic(State& state, Index elastic, Index node, std::int64_t count);
// The same for one place of the gang, if it is of its elastic set; and: a pod took a place on
// another node than planned.
void lose_elastic_place(State& state, Index gang, std::uint32_t pod_set, Index node);
void move_elastic(State& state, Index gang, std::uint32_t pod_set, Index from, Index to);
// Other bounds for a run: what is above the minimum is growth.
void rebase(State& state, Index elastic);

// Free on the node, were all elastic gangs gone: what others may hope for.
void add_elastic_holdings(const State& state, Index node, std::vector<Amount>& row);

// Growth of one gang that somebody else gets.
struct TakenGrowth {
  Index elastic = kNone;
  Index node = 0;
  std::int64_t count = 0;
  bool coming = false;
};
// Writes into the result that these gangs shrink, and to which places; rounds to allowed sizes.
// Growth that was given in this very step is withdrawn instead.
void shrink(State& state, const std::vector<TakenGrowth>& taken, std::optional<GangId> for_gang,
            Time now, StepResult& result);

// Growth of equal or lower priority and of those who borrow from the gang, the least worth first.
std::vector<Index> growth_givers(const State& state, Index gang);

// One step's part for elastic gangs: hands out what admissions left over.
class GrowthPass {
 public:
  GrowthPass(State& state, Time now, StepResult& result);

  // Growth whose places are free now, and gangs whose bounds fell.
  void settle();
  // After admissions.
  void run();

 private:
  // Before anybody else is tried, what can never be free is given up.
  void settle_coming(bool may_cancel);
  bool is_clear(const Elastic& elastic) const;
  void wake();
  // Its places in both orders, as they are now.
  void refresh(Index elastic);
  void refresh_dirty();
  void count_share(Index elastic);
  // Its place in the order of those who give way.
  void rank_holder(Index elastic);
  void refresh_all_if_due();
  void keep_within_bounds(Index elastic);
  GrowthView view_of(const Elastic& elastic) const;
  bool may_grow(const Elastic& elastic, std::int64_t from, std::int64_t to);
  WantKey want_key(const Elastic& elastic, std::int64_t from, std::int64_t to) const;

  void list_head(const GrowthLaneKey& key);
  void grow_all();
  bool grow_on_free(Index elastic, std::int64_t count);
  bool grow_by_taking(Index elastic, std::int64_t count);
  bool gives_way(const Elastic& giver, const Elastic& taker, const Worth& gain) const;
  void round_sizes();
  void note_wake();

  State& state_;
  Time now_;
  StepResult& result_;
  const GrowthPolicy& policy_;
  double capacity_unit(const Request& request) const;
  std::set<WantKey> heads_;  // of lanes that are awake
  std::vector<Index> odd_;   // sizes that are not allowed
};

}  // namespace codeflare::sched
