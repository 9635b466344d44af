#include "sched/internal/preempt.h"

#include "base/check.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/line.h"
#include "sched/internal/quota_ranks.h"
#include "sched/internal/reserve.h"
#include "sched/internal/squeeze.h"
#include "sched/internal/victims.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

std::vector<Index> draining_gangs(const State& state) {
  std::vector<Index> gangs;
  if (state.draining == 0) {
    return gangs;
  }
  for (const Run& run : state.gangs.runs()) {
    if (run.gang != kNone && state.gangs[run.gang].state == GangState::draining) {
      gangs.push_back(run.gang);
    }
  }
  return gangs;
}

// The depths at which the gang could borrow: the ranks it may aim at, best first.
std::vector<Index> bounds(const State& state, const Gang& gang) {
  std::vector<Index> depths{0};
  state.forest.each_on_path(state.claims.path_of(gang.claim).leaves, [&](Index index) {
    const QuotaState& node = state.forest[index];
    if (!node.binding() && !node.limits.empty()) {
      depths.push_back(node.depth);
    }
  });
  std::sort(depths.begin(), depths.end());
  depths.erase(std::unique(depths.begin(), depths.end()), depths.end());
  return depths;
}

// Of one resource that is short at one quota node: what could come free there, and at the gang's
// own node, if everybody went who may have to.
struct Relief {
  Amount at_shortage = 0;
  Amount at_leaf = 0;
};

void add_relief(const State& state, const QuotaShortage& shortage, Index leaf, const Run& run,
                Relief& relief) {
  const Amount amount = amount_of(run.charge, shortage.resource);
  state.forest.each_on_path(run.leaves, [&](Index node) {
    if (node == shortage.node) {
      relief.at_shortage += amount;
    }
    if (node == leaf) {
      relief.at_leaf += amount;
    }
  });
}

// Whether quota could allow the gang once others are gone: sums alone, which say yes rather too
// often. Most that wait for quota wait for their own kind, and the search for victims is long.
bool quota_may_come_free(const State& state, Index gang, const std::vector<Index>& draining) {
  const Gang& waiting = state.gangs[gang];
  const std::vector<Index>& leaves = state.claims.path_of(waiting.claim).leaves;
  const auto shortage = state.forest.shortage(leaves, state.shapes[waiting.shape].charge);
  if (!shortage) {
    return true;
  }
  const Index leaf = leaves.front();
  Relief sure;
  for (const Index each : draining) {
    add_relief(state, *shortage, leaf, state.gangs.run_of(each), sure);
  }
  Relief borrowed;  // by those who are not of lower priority
  for (const WeakKey& key : state.weakest) {
    if (key.over == 0 && key.priority >= waiting.priority) {
      break;
    }
    const bool lower = key.priority < waiting.priority;
    add_relief(state, *shortage, leaf, state.gangs.run_of(key.gang), lower ? sure : borrowed);
  }
  const Amount missing = shortage->used + shortage->requested - shortage->limit;
  if (sure.at_shortage >= missing) {
    return true;
  }
  // A borrower gives back only to a gang that does not borrow itself.
  if (leaves.size() == 1) {
    const QuotaState& own = state.forest[leaf];
    for (const Part& limit : own.limits) {
      if (limit.resource == shortage->resource &&
          amount_of(own.used, limit.resource) - sure.at_leaf + shortage->requested > limit.amount) {
        return false;
      }
    }
  }
  return sure.at_shortage + borrowed.at_shortage >= missing;
}

// A nominated gang holds nothing that must be stopped: it goes straight back in line.
void push_out(State& state, Index gang, const Victim& victim, StepResult& result) {
  Gang& evicted = state.gangs[victim.gang];
  if (evicted.state == GangState::nominated) {
    std::erase(state.nominated, victim.gang);
    end_run(state, victim.gang, false);
    enqueue(state, victim.gang);
    state.stir = true;
    return;
  }
  leave_ranks(state, state.gangs.run_of(victim.gang));
  if (evicted.elastic != kNone) {
    stop_elastic(state, evicted.elastic);
  }
  evicted.state = GangState::draining;
  ++state.draining;
  result.evicted.push_back({state.gangs.id(victim.gang), state.gangs.id(gang), victim.cause});
}

bool fits_now(Lifting& lifting) {
  if (lifting.shortage()) {
    return false;
  }
  const Placed placed = lifting.try_place();
  if (placed.ok()) {
    lifting.unplace(placed);
  }
  return placed.ok();
}

void settle(State& state, Index gang, Time now, const std::vector<Share>& shares,
            const std::vector<Victim>& victims, StepResult& result) {
  std::vector<std::vector<Index>> paths;
  for (const Victim& victim : victims) {
    paths.push_back(state.gangs.run_of(victim.gang).leaves);
    push_out(state, gang, victim, result);
  }
  dequeue(state, gang);
  begin_run(state, gang, shares, now);
  state.gangs[gang].state = GangState::nominated;
  state.nominated.push_back(gang);
  // Only now: the gang's own rank comes before anybody's promotion.
  for (const auto& leaves : paths) {
    promote(state, leaves);
  }
  if (state.reservation && state.reservation->gang == gang) {
    drop_reservation(state);
  }
}

}  // namespace

bool nominate(State& state, Index gang, Time now, StepResult& result) {
  const std::vector<Index> draining = draining_gangs(state);
  const std::vector<Index> givers = growth_givers(state, gang);
  const bool elastic = state.elastics.active() > 0 || state.elastics.leaving > 0;
  if (draining.empty() && state.weakest.empty() && !elastic) {
    return false;
  }
  if (!elastic && !quota_may_come_free(state, gang, draining)) {
    return false;
  }
  Lifting lifting(state, gang);
  for (const Index each : draining) {
    lifting.lift(each);
  }
  lifting.lift_leaving();
  std::vector<Victim> victims;
  Placed placed;
  placed.outcome = Placed::Outcome::not_together;
  if (lifting.may_fit()) {
    placed = lifting.try_place();
  }
  // Growth goes before gangs do.
  const Shape& shape = state.shapes[state.gangs[gang].shape];
  Squeeze squeeze(state, lifting, shape, givers,
                  [](const Elastic& each) { return each.planned() - each.sizes.min; });
  if (!placed.ok() && !givers.empty() && squeeze.run()) {
    squeeze.spare([&] { return fits_now(lifting); });
    placed = lifting.try_place();
    CHECK(placed.ok(), "chosen growth does not suffice");
  }
  const Lifting::Memory before = lifting.memory();
  for (const Index bound : bounds(state, state.gangs[gang])) {
    if (placed.ok()) {
      break;
    }
    lifting.recall(before);
    VictimSearch search(state, gang, lifting, bound);
    if (auto found = search.run()) {
      victims = std::move(*found);
      squeeze.spare([&] { return fits_now(lifting); });
      placed = lifting.try_place();
      CHECK(placed.ok(), "chosen victims do not suffice");
    }
  }
  std::vector<TakenGrowth> taken = lifting.growth();
  lifting.restore_all();
  if (!placed.ok()) {
    return false;
  }
  // Evicted gangs do not shrink first.
  std::erase_if(taken, [&](const TakenGrowth& each) {
    return std::ranges::any_of(victims, [&](const Victim& victim) {
      return victim.gang == state.elastics[each.elastic].gang;
    });
  });
  shrink(state, taken, state.gangs.id(gang), now, result);
  settle(state, gang, now, placed.shares, victims, result);
  return true;
}

}  // namespace codeflare::sched
