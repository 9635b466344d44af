#pragma once

#include "json/value.h"

#include <cstdint>

namespace codeflare::queue {

// Whether an object comes to an end by itself.
enum class Life : std::uint8_t {
  unknown,   // of a kind without an entry in this folder
  ends,      // and reports its end in its status
  runs_on,   // until it is deleted: a cluster, a service
  restarts,  // a Pod that starts anew whenever it ends
  no_pods,   // has no pods to wait for: a ConfigMap, a Service
};

// For the entries of kinds.
Life always_ends(const json::Value& object);
Life never_ends(const json::Value& object);

// Of an object as it was written, whatever its kind.
Life life_of(const json::Value& object);

}  // namespace codeflare::queue
