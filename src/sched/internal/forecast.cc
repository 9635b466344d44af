#include "sched/internal/holdings.h"
#include "sched/internal/lifting.h"
#include "sched/internal/reserve.h"

#include <algorithm>
#include <tuple>

namespace codeflare::sched {

namespace {

struct Ending {
  std::optional<Time> at;
  Index gang = kNone;
};

std::vector<Ending> endings(const State& state, Time now) {
  std::vector<Ending> all;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang != kNone) {
      all.push_back({predicted_end(state.gangs[run.gang], run, now), run.gang});
    }
  }
  std::sort(all.begin(), all.end(), [&](const Ending& a, const Ending& b) {
    if (a.at.has_value() != b.at.has_value()) {
      return a.at.has_value();
    }
    if (a.at && *a.at != *b.at) {
      return *a.at < *b.at;
    }
    return std::forward_as_tuple(state.gangs.run_of(a.gang).started, state.gangs[a.gang].name) <
           std::forward_as_tuple(state.gangs.run_of(b.gang).started, state.gangs[b.gang].name);
  });
  return all;
}

}  // namespace

std::optional<Forecast> forecast(State& state, Index gang, Time now) {
  Lifting lifting(state, gang);
  std::optional<Forecast> result;
  // Growth that has to give way is as good as free.
  lifting.lift_leaving();
  for (const Index giver : growth_givers(state, gang)) {
    const Elastic& elastic = state.elastics[giver];
    for (const GrownSlot& slot : elastic.coming) {
      lifting.lift_growth({giver, slot.node, slot.count, true});
    }
    for (const GrownSlot& slot : elastic.grown) {
      lifting.lift_growth({giver, slot.node, slot.count});
    }
  }
  const std::vector<Ending> all = endings(state, now);
  std::optional<Time> at = now;
  for (std::size_t next = 0;; ++next) {
    if (lifting.may_fit()) {
      const Placed placed = lifting.try_place();
      if (placed.ok()) {
        result = Forecast{at, placed.shares};
        lifting.unplace(placed);
        break;
      }
    }
    if (next == all.size()) {
      break;
    }
    lifting.lift(all[next].gang);
    at = all[next].at;
  }
  lifting.restore_all();
  return result;
}

}  // namespace codeflare::sched
