#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/lifting.h"
#include "sched/internal/questions.h"
#include "sched/internal/squeeze.h"

#include <algorithm>
#include <tuple>

namespace codeflare::sched {

namespace {

// Gangs whose end is worth looking at.
constexpr std::size_t kAdviceGangsMax = 2000;

// The run's amounts of the resources asked for.
Request held_of(const State& state, const Run& run, const Request& wanted) {
  Request all;
  each_holding(state, run, [&](Index, const Request& request, std::int64_t count) {
    add(all, request, count);
  });
  Request held;
  for (const Part& part : all) {
    if (amount_of(wanted, part.resource) > 0) {
      held.push_back(part);
    }
  }
  return held;
}

// Cheap to lose first: low priority, then young.
std::vector<Index> by_weakness(const State& state) {
  std::vector<Index> gangs;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang != kNone) {
      gangs.push_back(run.gang);
    }
  }
  std::sort(gangs.begin(), gangs.end(), [&](Index a, Index b) {
    const Gang& x = state.gangs[a];
    const Gang& y = state.gangs[b];
    return std::forward_as_tuple(x.priority, state.gangs.run_of(b).started, y.name) <
           std::forward_as_tuple(y.priority, state.gangs.run_of(a).started, x.name);
  });
  if (gangs.size() > kAdviceGangsMax) {
    gangs.resize(kAdviceGangsMax);
  }
  return gangs;
}

bool fits_now(Lifting& lifting) {
  if (!lifting.may_fit()) {
    return false;
  }
  const Placed placed = lifting.try_place();
  if (placed.ok()) {
    lifting.unplace(placed);
  }
  return placed.ok();
}

bool helps(const State& state, const Lifting& lifting, Index gang) {
  const auto shortage = lifting.shortage();
  if (!shortage) {
    return lifting.in_the_way(gang);
  }
  bool charges = false;
  const Run& run = state.gangs.run_of(gang);
  state.forest.each_on_path(run.leaves,
                            [&](Index node) { charges = charges || node == shortage->node; });
  return charges && amount_of(run.charge, shortage->resource) > 0;
}

// One gang if one is enough, else the weakest that help, without the needless ones.
bool choose(State& state, Lifting& lifting, const std::vector<Index>& gangs) {
  if (fits_now(lifting)) {
    return true;
  }
  const Lifting::Memory before = lifting.memory();
  for (const Index gang : gangs) {
    if (!helps(state, lifting, gang) || !lifting.may_be_enough(gang)) {
      continue;
    }
    lifting.lift(gang);
    if (fits_now(lifting)) {
      return true;
    }
    lifting.restore(gang);
    lifting.recall(before);
  }
  while (!fits_now(lifting)) {
    // From the weakest again: who did not help against quota may help against full nodes.
    const auto next = std::find_if(gangs.begin(), gangs.end(), [&](Index gang) {
      const auto& lifted = lifting.lifted();
      return std::find(lifted.begin(), lifted.end(), gang) == lifted.end() &&
             helps(state, lifting, gang);
    });
    if (next == gangs.end()) {
      return false;
    }
    lifting.lift(*next);
  }
  const std::vector<Index> chosen = lifting.lifted();
  for (auto gang = chosen.rbegin(); gang != chosen.rend(); ++gang) {
    lifting.restore(*gang);
    if (!fits_now(lifting)) {
      lifting.lift(*gang);
    }
  }
  return true;
}

void advise_shrinking(const State& state, Time now, const std::vector<TakenGrowth>& growth,
                      const std::vector<Index>& ended, Advice& advice, Request& sum) {
  for (const TakenGrowth& each : growth) {
    const Elastic& elastic = state.elastics[each.elastic];
    if (std::find(ended.begin(), ended.end(), elastic.gang) != ended.end()) {
      continue;
    }
    const GangId id = state.gangs.id(elastic.gang);
    auto known = std::ranges::find_if(advice.would_start_if_shrunk,
                                      [&](const Holder& holder) { return holder.gang == id; });
    if (known == advice.would_start_if_shrunk.end()) {
      const Gang& gang = state.gangs[elastic.gang];
      advice.would_start_if_shrunk.push_back(
          {id, gang.name, {}, predicted_end(gang, state.gangs.run_of(elastic.gang), now)});
      known = advice.would_start_if_shrunk.end() - 1;
    }
    known->growth += each.count;
    Request held;
    add(held, elastic_request(state, elastic), known->growth);
    known->held = state.cluster.resources().named(held);
    add(sum, elastic_request(state, elastic), each.count);
  }
}

}  // namespace

Advice advise(State& state, Index gang, Time now) {
  Advice advice;
  const Gang& asked = state.gangs[gang];
  if (asked.state != GangState::waiting || !state.claims.path_of(asked.claim).problem.empty()) {
    return advice;
  }
  Lifting lifting(state, gang);
  lifting.lift_leaving();
  // Fewer pods for somebody are better than somebody's end.
  std::vector<Index> givers;
  for (const HoldKey& key : state.elastics.holders()) {
    givers.push_back(key.elastic);
  }
  Squeeze squeeze(state, lifting, state.shapes[asked.shape], givers,
                  [](const Elastic& each) { return each.planned() - each.sizes.min; });
  const bool squeezed = !givers.empty() && squeeze.run();
  advice.possible = squeezed || choose(state, lifting, by_weakness(state));
  if (advice.possible) {
    squeeze.spare([&] { return fits_now(lifting); });
  }
  const std::vector<Index> chosen = lifting.lifted();
  const std::vector<TakenGrowth> growth = lifting.growth();
  lifting.restore_all();
  if (!advice.possible) {
    return advice;
  }
  Request sum;
  advise_shrinking(state, now, growth, chosen, advice, sum);
  for (const Index each : chosen) {
    const Run& run = state.gangs.run_of(each);
    const Request held = held_of(state, run, state.shapes[asked.shape].total);
    add(sum, held, +1);
    advice.would_start_if_ended.push_back({state.gangs.id(each), state.gangs[each].name,
                                           state.cluster.resources().named(held),
                                           predicted_end(state.gangs[each], run, now)});
  }
  advice.to_free = state.cluster.resources().named(sum);
  return advice;
}

}  // namespace codeflare::sched
