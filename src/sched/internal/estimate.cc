#include "sched/internal/domains.h"
#include "sched/internal/events.h"
#include "sched/internal/growth.h"
#include "sched/internal/holdings.h"
#include "sched/internal/order.h"
#include "sched/internal/pass.h"
#include "sched/internal/questions.h"

#include <algorithm>
#include <limits>

namespace codeflare::sched {

namespace {

// A longer line is replayed only as far as the gang that is asked about.
constexpr std::size_t kReplayedGangsMax = 20'000;
constexpr int kReplayedEndsMax = 20'000;

void cut_line_behind(State& state, Index gang, Time now) {
  std::vector<Index> behind;
  for (Index each = 0; each < state.gangs.all().size(); ++each) {
    if (state.gangs[each].lane != kNone && ahead(state.gangs[gang], state.gangs[each], now)) {
      behind.push_back(each);
    }
  }
  for (const Index each : behind) {
    remove_gang(state, each);
  }
}

// Frees the leaving places of an elastic gang, or ends pods that have them.
void free_leaving(State& state, const Resize& resize) {
  const Index gang = resize.gang.index;
  if (state.gangs.checked(resize.gang) == kNone || state.gangs[gang].run == kNone) {
    return;
  }
  for (const Slot& slot : resize.less) {
    for (std::int64_t i = 0; i < slot.count; ++i) {
      const Run& run = state.gangs.run_of(gang);
      const auto place = std::ranges::find_if(run.places, [&](const HeldSlot& each) {
        return each.pod_set == slot.pod_set && each.node == slot.node.index;
      });
      const auto pod = std::ranges::find_if(run.pods, [&](const BoundPod& each) {
        return each.pod_set == slot.pod_set && each.node == slot.node.index;
      });
      if (place != run.places.end()) {
        (void)drop_place(state, gang, slot.pod_set, slot.node.index);
      } else if (pod != run.pods.end()) {
        (void)end_pod(state, gang, std::string(pod->name), false);
      }
    }
  }
}

// Evicted gangs are gone at once in the replay, and so is what others shrink by.
void run_steps(State& state, Time now) {
  // Decisions come to an end; a policy that errs there must not hang a question.
  constexpr int kRoundsMax = 1000;
  for (int round = 0; round < kRoundsMax; ++round) {
    StepResult result;
    Pass(state, now, std::numeric_limits<std::size_t>::max(), result).run();
    bool shrunk = false;
    for (const Resize& each : result.resized) {
      shrunk = shrunk || !each.less.empty();
      free_leaving(state, each);
    }
    if (result.evicted.empty() && !shrunk && !result.more) {
      return;
    }
    for (const Eviction& each : result.evicted) {
      if (!requeue_gang(state, each.victim.index, now)) {
        return;
      }
    }
  }
}

std::optional<Time> next_end(const State& state, Time now) {
  std::optional<Time> next;
  for (const Run& run : state.gangs.runs()) {
    if (run.gang == kNone) {
      continue;
    }
    const auto end = predicted_end(state.gangs[run.gang], run, now);
    if (end && (!next || *end < *next)) {
      next = end;
    }
  }
  return next;
}

}  // namespace

Estimate estimate(const State& state, Index gang, Time now) {
  Estimate answer;
  if (state.gangs[gang].state == GangState::running) {
    answer.start = state.gangs.run_of(gang).started;
    return answer;
  }
  State replay(state);
  if (replay.lanes.waiting() > kReplayedGangsMax) {
    answer.approximate = true;
    cut_line_behind(replay, gang, now);
  }
  run_steps(replay, now);
  for (int ends = 0; ends < kReplayedEndsMax; ++ends) {
    if (replay.gangs[gang].state == GangState::running) {
      answer.start = now;
      if (const auto home = home_of(replay, replay.gangs.run_of(gang))) {
        answer.domain = domain_text(replay.cluster, *home);
      }
      return answer;
    }
    const auto next = next_end(replay, now);
    if (!next) {
      return answer;
    }
    now = std::max(now, *next);
    std::vector<Index> ended;
    for (const Run& run : replay.gangs.runs()) {
      if (run.gang == kNone || run.gang == gang) {
        continue;
      }
      const auto end = predicted_end(replay.gangs[run.gang], run, now);
      if (end && *end <= now) {
        ended.push_back(run.gang);
      }
    }
    if (ended.empty()) {
      return answer;
    }
    for (const Index each : ended) {
      remove_gang(replay, each);
    }
    run_steps(replay, now);
  }
  return answer;
}

}  // namespace codeflare::sched
