#pragma once

#include "sched/internal/reserve.h"
#include "sched/internal/state.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace codeflare::sched {

// One step: tries the lanes that woke, the first in line first, and settles what follows.
class Pass {
 public:
  Pass(State& state, Time now, std::size_t admissions_max, StepResult& result)
      : state_(state), now_(now), admissions_max_(admissions_max), result_(result) {}

  void run();
  // The reasons of lanes that sleep, as they are now.
  void review();

 private:
  struct Obstacle {
    Reason why = Reason::none;
    std::optional<QuotaShortage> shortage{};
  };

  void wake();
  // A lane with its head's place in line beside it: comparing touches no gang unless times are
  // equal.
  struct Entry {
    double priority = 0;
    Time submitted{};
    Index lane = kNone;
    Index hopes_for = kNone;  // the kind of pods that found no place before nodes grew
  };
  Entry entry(Index lane) const;
  bool later(const Entry& a, const Entry& b) const;
  void make_heap();
  std::optional<Index> pop();
  void push_new_ready();

  void try_lane(Index lane);
  // Starts the lane's head, or says what is in the way.
  Obstacle try_start(Index lane);
  Obstacle try_behind_fence(Index lane, const QuotaPath& path, const Shape& shape);
  void start(Index gang, const std::vector<Share>& shares);
  void block(Index lane, const Obstacle& obstacle);
  // Lanes woke because nodes grew; without these nodes there were too few places. Once admissions
  // have filled them, so that none holds a pod that was missing, there are too few again.
  void drop_hopeless();
  void find_kinds_with_hope();

  // Nominated gangs start when their places are clear, and go back in line when they never will be.
  void settle_nominated();
  bool place_is_clear(Index gang) const;

  void check_reservation();
  bool fenced(Index lane);
  // Before `lane` is tried: whoever waits ahead of it may reserve first.
  void elect_before(std::optional<Index> lane);
  void take_over(Index lane);

  // Another reason than when it was last tried?
  void refresh(Index lane);
  void report();
  void report_changed();

  State& state_;
  Time now_;
  std::size_t admissions_max_;
  StepResult& result_;
  std::vector<Entry> heap_;      // the first in line on top
  std::vector<Index> grown_;     // nodes
  std::vector<bool> hope_;       // by kind: one of them still holds such a pod
  std::vector<GangId> changed_;  // whose lane has another reason
  std::optional<Fence> fence_;
  // Sleeping lanes in the order in which they may reserve, worst first; made when needed.
  std::optional<std::vector<Index>> candidates_;
};

}  // namespace codeflare::sched
