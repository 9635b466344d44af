#pragma once

#include "base/time.h"
#include "net/http.h"

namespace codeflare::net {

// The body, given up when nothing comes for so long while somebody reads: `unavailable`, and what
// is behind it is closed. TCP notices a peer that vanished, but not one that a balancer between
// answers for. Only for bodies whose sender never has a reason to pause: a log that is followed may
// be silent for hours and be well.
Body limit_idle(Body body, Duration limit);

}  // namespace codeflare::net
