#include "sched/internal/line.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

std::int64_t nodes_allowed(const Cluster& cluster, const Kind& kind) {
  std::int64_t nodes = 0;
  for (const Index each : kind.classes) nodes += cluster.node_class(each).nodes;
  if (!kind.per_node || nodes == 0) return nodes;
  nodes = 0;
  for (Index node = 0; node < cluster.nodes().size(); ++node) {
    const auto& classes = kind.classes;
    const bool in_class = std::find(classes.begin(), classes.end(),
                                    cluster.nodes()[node].node_class) != classes.end();
    if (in_class && cluster.allows(kind, node)) ++nodes;
  }
  return nodes;
}

Amount free_in(const Cluster& cluster, const std::vector<Index>& classes, Index resource) {
  Amount sum = 0;
  for (const Index each : classes) sum += cluster.node_class(each).free_sum[resource];
  return sum;
}

bool enough_in_sum(const Cluster& cluster, const std::vector<Index>& classes,
                   const Request& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const Part& part) {
    return free_in(cluster, classes, part.resource) >= part.amount;
  });
}

}  // namespace

Why reason(const State& state, const Shape& shape, const Placed& placed) {
  const Cluster& cluster = state.cluster;
  if (placed.outcome == Placed::Outcome::short_of_places) {
    const Group& group = shape.groups[placed.group];
    const Kind& kind = cluster.kind(group.kind);
    if (nodes_allowed(cluster, kind) == 0) return Why::excluded;
    Request wanted;
    add(wanted, kind.request, group.count);
    return enough_in_sum(cluster, kind.classes, wanted) ? Why::fragmented : Why::insufficient;
  }
  std::vector<Index> classes;
  for (const Group& group : shape.groups) {
    const auto& more = cluster.kind(group.kind).classes;
    classes.insert(classes.end(), more.begin(), more.end());
  }
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return enough_in_sum(cluster, classes, shape.total) ? Why::fragmented : Why::insufficient;
}

}  // namespace codeflare::sched
