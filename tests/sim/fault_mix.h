#pragma once

#include "base/env/random.h"
#include "base/time.h"
#include "net/sim_link.h"

#include <cstdint>

namespace codeflare::sim {

// A time between none and `longest`, from the seed.
Duration up_to(Random& random, Duration longest);

// How bad a link may get. A zero stays as the link has it, and nothing is drawn for it.
struct FaultLimits {
  double lost_request = 0.05;
  double cut_stream = 0.7;
  double silent_stream = 0.2;
  Duration piece_delay = Duration::zero();
  std::uint64_t pieces_before_fault = 0;
};

// Each seed has its own mix, from a good network to a miserable one.
net::LinkFaults fault_mix(Random& random, const FaultLimits& limits);

}  // namespace codeflare::sim
