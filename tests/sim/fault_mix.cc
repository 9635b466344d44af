#include "tests/sim/fault_mix.h"

#include <chrono>

namespace codeflare::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

Duration up_to(Random& random, Duration longest) {
  return Duration(
      static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(longest.count()) + 1)));
}

net::LinkFaults fault_mix(Random& random, const FaultLimits& limits) {
  auto chance = [&](double most) { return random.fraction() * most; };
  net::LinkFaults faults;
  faults.refused = chance(0.1);
  faults.lost_request = chance(limits.lost_request);
  faults.lost_reply = chance(0.05);
  faults.conflict = chance(0.1);
  faults.throttled = chance(0.1);
  faults.internal = chance(0.1);
  faults.unavailable = chance(0.1);
  faults.cut_stream = chance(limits.cut_stream);
  faults.silent_stream = chance(limits.silent_stream);
  faults.delay_max = up_to(random, milliseconds(200));
  if (limits.piece_delay > Duration::zero()) {
    faults.piece_delay_max = up_to(random, limits.piece_delay);
  }
  faults.loss_noticed_after = seconds(1) + up_to(random, seconds(20));
  if (limits.pieces_before_fault > 0) {
    faults.pieces_before_fault_max = 1 + random.below(limits.pieces_before_fault);
  }
  return faults;
}

}  // namespace codeflare::sim
