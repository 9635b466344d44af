#pragma once

#include "sched/internal/cluster.h"
#include "sched/internal/placement.h"
#include "sched/internal/shape_table.h"

#include <cstdint>
#include <string>
#include <vector>

// The parts of the cluster of which a gang may use one: GangSpec::within.
namespace codeflare::sched {

struct Domain {
  DomainValues values;
  std::size_t tier = 0;            // of Within::prefer
  std::vector<Amount> free_sum{};  // of the packing resources, for the first group
  std::vector<Index> nodes{};      // only where a wide key leaves classes undecided
};

// Those where some node is allowed for the first group, the best first. With `home` only that one.
std::vector<Domain> domains_of(const Cluster& cluster, const Shape& shape);

// Valid as long as the domain is.
Scope scope_of(const Domain& domain);

// "a" or, with several keys, "b/a".
std::string domain_text(const Cluster& cluster, const DomainValues& values);

// Whether the kind may use the node and it belongs to the domain.
bool in_domain(const Cluster& cluster, const Kind& kind, const DomainValues& values, Index node);

}  // namespace codeflare::sched
