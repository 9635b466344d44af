#pragma once

#include "runtime/informer.h"

#include <functional>

namespace codeflare::runtime {

// Says whether a change is worth a look. Pure; never the place for a decision. Without one every
// change is; informers tell no change twice.
using Predicate = std::function<bool(const ObjectChange&)>;

// The spec changed (or the object came, goes or is being deleted): status updates do not count.
Predicate generation_changed();
Predicate labels_changed();
// any_of(generation_changed(), labels_changed())
Predicate any_of(Predicate a, Predicate b);

}  // namespace codeflare::runtime
