#include "sched/internal/line.h"

#include <algorithm>

// Why a gang finds no place: said of the nodes as they are, not of the trial that failed, so that a
// trial long ago and one now give the same answer.
namespace codeflare::sched {

namespace {

bool any_node_allowed(const Cluster& cluster, const Kind& kind) {
  const auto& classes = kind.classes;
  const auto inhabited = [&](Index each) { return cluster.node_class(each).nodes > 0; };
  if (!std::any_of(classes.begin(), classes.end(), inhabited)) {
    return false;
  }
  if (!kind.per_node) {
    return true;
  }
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    const bool in_class = std::find(classes.begin(), classes.end(),
                                    cluster.nodes()[node].node_class) != classes.end();
    if (in_class && cluster.allows(kind, node)) {
      return true;
    }
  }
  return false;
}

Amount free_in(const Cluster& cluster, const std::vector<Index>& classes, Index resource) {
  Amount sum = 0;
  for (const Index each : classes) {
    sum += cluster.node_class(each).free_sum[resource];
  }
  return sum;
}

bool enough_for(const Cluster& cluster, const Group& group, const Scope& scope) {
  const Kind& kind = cluster.kind(group.kind);
  const auto& classes = scope.classes(kind);
  return std::all_of(kind.request.begin(), kind.request.end(), [&](const Part& part) {
    return free_in(cluster, classes, part.resource) >= part.amount * group.count;
  });
}

// On all nodes where one of its pods may take some.
bool enough_for_all(const Cluster& cluster, const Shape& shape, const Part& wanted,
                    const Scope& scope) {
  std::vector<Index> classes;
  for (const Group& group : shape.groups) {
    const Kind& kind = cluster.kind(group.kind);
    if (amount_of(kind.request, wanted.resource) == 0) {
      continue;
    }
    const auto& usable = scope.classes(kind);
    classes.insert(classes.end(), usable.begin(), usable.end());
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return free_in(cluster, classes, wanted.resource) >= wanted.amount;
}

bool enough(const Cluster& cluster, const Shape& shape, const Scope& scope) {
  for (const Group& group : shape.groups) {
    if (!enough_for(cluster, group, scope)) {
      return false;
    }
  }
  return shape.groups.size() <= 1 ||
         std::all_of(shape.total.begin(), shape.total.end(), [&](const Part& wanted) {
           return enough_for_all(cluster, shape, wanted, scope);
         });
}

// Some domain has a node for every kind of pod; of those, whether one has enough in sum. A wide key
// leaves domains to nodes: then the sums of all nodes decide.
Reason reason_within(const Cluster& cluster, const Shape& shape) {
  const Kind& first = cluster.kind(shape.groups.front().kind);
  if (first.open_domains) {
    return enough(cluster, shape, {}) ? Reason::fragmented : Reason::insufficient_resources;
  }
  Reason why = Reason::no_node_allowed;
  for (const KindDomain& domain : first.domains) {
    const bool complete =
        std::all_of(shape.groups.begin(), shape.groups.end(), [&](const Group& group) {
          return Cluster::find_domain(cluster.kind(group.kind), domain.values) != nullptr;
        });
    if (!complete) {
      continue;
    }
    if (enough(cluster, shape, {.domain = &domain.values})) {
      return Reason::fragmented;
    }
    why = Reason::insufficient_resources;
  }
  return why;
}

}  // namespace

bool waits_for_places(Reason why) {
  return why == Reason::insufficient_resources || why == Reason::fragmented ||
         why == Reason::no_node_allowed;
}

Reason reason(const State& state, const Shape& shape) {
  const Cluster& cluster = state.cluster;
  for (const Group& group : shape.groups) {
    if (!any_node_allowed(cluster, cluster.kind(group.kind))) {
      return Reason::no_node_allowed;
    }
  }
  if (!shape.within.keys.empty() && !shape.groups.empty()) {
    return reason_within(cluster, shape);
  }
  return enough(cluster, shape, {}) ? Reason::fragmented : Reason::insufficient_resources;
}

Reason reason_now(State& state, Index shape) {
  Shape& asked = state.shapes[shape];
  if (asked.why_at != state.cluster.changes()) {
    asked.why = reason(state, asked);
    asked.why_at = state.cluster.changes();
  }
  return asked.why;
}

std::size_t reason_effort(const State& state, const Shape& shape) {
  std::size_t effort = 0;
  for (const Group& group : shape.groups) {
    const Kind& kind = state.cluster.kind(group.kind);
    effort += 1 + kind.classes.size() + (kind.per_node ? state.cluster.nodes().size() : 0);
  }
  return effort;
}

}  // namespace codeflare::sched
