#pragma once

#include "sched/internal/best_fit_walk.h"
#include "sched/internal/cluster.h"
#include "sched/internal/shape_table.h"

#include <cstdint>
#include <vector>

namespace codeflare::sched {

// `count` pods of one group of a shape on one node.
struct Share {
  Index group = 0;
  Index node = 0;
  std::int64_t count = 0;
};

struct Placed {
  enum class Outcome : std::uint8_t {
    placed,
    short_of_places,  // one group does not fit even alone
    not_together,     // every group fits alone, but not all of them
  };
  Outcome outcome = Outcome::placed;
  std::vector<Share> shares;  // when placed; already taken from the cluster
  Index group = 0;            // the one that is short
  std::int64_t missing = 0;   // places that it is short of
  bool cut_short = false;     // not_together, but not proven

  bool ok() const { return outcome == Outcome::placed; }
};

// Where a placement looks: everywhere, in one domain, or on these nodes.
struct Scope {
  const DomainValues* domain = nullptr;
  const std::vector<Index>* nodes = nullptr;

  const std::vector<Index>& classes(const Kind& kind) const;
};

// All pods of the shape or none, best fit. Takes the places on success; the overlay is charged too.
// A shape with `within` gets all its places in one domain, the first in order that holds it.
Placed place(Cluster& cluster, const Shape& shape, Overlay* overlay, std::uint32_t steps_max);
// The same in this scope, whatever `within` says.
Placed place_in(Cluster& cluster, const Shape& shape, const Scope& scope, Overlay* overlay,
                std::uint32_t steps_max);
// Gives the places back.
void unplace(Cluster& cluster, const Shape& shape, Overlay* overlay,
             const std::vector<Share>& shares);
// How many pods of the kind fit if nothing else is placed, at most `most`.
std::int64_t places(const Cluster& cluster, const Kind& kind, const Overlay* overlay,
                    std::int64_t most, const Scope& scope = {});

}  // namespace codeflare::sched
