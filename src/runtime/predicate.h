#pragma once

#include "runtime/informer.h"

#include <functional>

namespace codeflare::runtime {

// Says whether a change is worth a look. Pure; never the place for a decision.
using Predicate = std::function<bool(const ObjectChange&)>;

// The spec changed (or the object came, goes or is being deleted): status updates do not count.
Predicate generation_changed();
Predicate labels_changed();
// Something changed at all: leaves out repeats of the same version.
Predicate version_changed();
Predicate any_of(Predicate a, Predicate b);
Predicate all_of(Predicate a, Predicate b);
Predicate negate(Predicate a);

}  // namespace codeflare::runtime
