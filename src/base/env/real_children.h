#pragma once

#include "base/async/loop.h"
#include "base/env/children.h"

#include <memory>

namespace codeflare {

struct RealChildrenOptions {
  // Do what process 1 has to do: orphans of our children become ours and are reaped. Beside it
  // nothing else of this process may wait for children, so no Launcher.
  bool reap_orphans = false;
};

// Children of this process. For real loops; the loop outlives it and the children it started.
std::unique_ptr<Children> make_real_children(Loop& loop, RealChildrenOptions options = {});

}  // namespace codeflare
