#pragma once

#include "sched/internal/state.h"

#include <map>
#include <optional>
#include <vector>

// The head of the line keeps its place from those behind it (Options::holding_time).
namespace codeflare::sched {

struct Forecast {
  std::optional<Time> starts;  // unknown if it waits for an end that is
  std::vector<Share> shares;
};
// Replays ends, known ones in order, then the others, longest running first, until the gang fits
// on what is free then. Nothing if it does not fit even without any gang.
std::optional<Forecast> forecast(State& state, Index gang, Time now);

// Fewer turns first, then the order of the line.
bool reserves_before(const State& state, Index lane, Index other, Time now);

// The rest that the reservation leaves to gangs that will not be gone when it begins.
class Fence {
 public:
  Fence(const State& state, const Reservation& reservation, Time now);
  bool lets_pass(const State& state, const std::vector<Index>& leaves, const Request& charge) const;
  void charge(const State& state, const std::vector<Index>& leaves, const Request& charge);
  Overlay& nodes() { return nodes_; }

 private:
  Overlay nodes_;
  std::map<Index, std::map<Index, Amount>> quota_;  // what is left, by node and resource
};

// Whether a gang that starts now and runs to its limit is gone in time.
bool gone_in_time(const Reservation& reservation, Duration limit, Time now);

// The lane's head becomes the holder, if any nodes could hold it. Keeps `since` when it already is.
bool reserve(State& state, Index lane, Time now);
void drop_reservation(State& state);

}  // namespace codeflare::sched
