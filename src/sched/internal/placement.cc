#include "sched/internal/placement.h"

#include "sched/internal/placement_search.h"

#include <algorithm>
#include <numeric>

namespace codeflare::sched {

namespace {

// Pods beyond which a search is hopeless within any sensible number of steps.
constexpr std::int64_t kSearchPodsMax = 64;

// The demand of one group on the cluster as it is.
struct Wanted {
  const Kind& kind;
  std::int64_t count = 0;
  std::vector<Index> taken{};  // nodes that are not for it; sorted
};

// The nodes of the scope that the kind may use and that hold one, best fit first.
std::vector<Index> fitting(const Cluster& cluster, const Kind& kind, const Scope& scope,
                           const Overlay* overlay) {
  std::vector<Index> nodes;
  for (const Index node : *scope.nodes) {
    const auto& classes = kind.classes;
    const Index home = cluster.nodes()[node].node_class;
    if (std::find(classes.begin(), classes.end(), home) != classes.end() &&
        cluster.allows(kind, node) && room(cluster, kind, node, overlay, 1) > 0) {
      nodes.push_back(node);
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [&](Index a, Index b) { return cluster.order().before(a, b); });
  return nodes;
}

// Best fit: appends shares with the group's number, takes nothing.
std::int64_t collect(const Cluster& cluster, const Scope& scope, const Wanted& wanted, Index group,
                     const Overlay* overlay, std::vector<Share>& shares) {
  std::vector<Index> listed;
  if (scope.nodes != nullptr) {
    listed = fitting(cluster, wanted.kind, scope, overlay);
  }
  static const std::vector<Index> kNoClasses;
  BestFitWalk walk(cluster, wanted.kind,
                   scope.nodes == nullptr ? scope.classes(wanted.kind) : kNoClasses, overlay);
  std::int64_t found = 0;
  for (std::size_t next = 0; found < wanted.count;) {
    const Index node = scope.nodes == nullptr ? walk.next()
                       : next < listed.size() ? listed[next++]
                                              : kNone;
    if (node == kNone) {
      break;
    }
    if (std::binary_search(wanted.taken.begin(), wanted.taken.end(), node)) {
      continue;
    }
    const std::int64_t here = room(cluster, wanted.kind, node, overlay, wanted.count - found);
    shares.push_back({group, node, here});
    found += here;
  }
  return found;
}

// Beside what other groups have got already.
Wanted wanted_by(const Cluster& cluster, const Shape& shape, Index group,
                 const std::vector<Share>& others) {
  const Group& asking = shape.groups[group];
  Wanted wanted{cluster.kind(asking.kind), asking.count, asking.taken};
  if (asking.apart != 0) {
    for (const Share& share : others) {
      if (shape.groups[share.group].apart == asking.apart) {
        wanted.taken.push_back(share.node);
      }
    }
    std::sort(wanted.taken.begin(), wanted.taken.end());
  }
  return wanted;
}

void take(Cluster& cluster, const Shape& shape, Overlay* overlay, const Share& share,
          std::int64_t sign) {
  const Request& request = cluster.kind(shape.groups[share.group].kind).request;
  cluster.take(share.node, request, share.count * sign);
  if (overlay == nullptr) {
    return;
  }
  if (auto* left = overlay->find(share.node)) {
    for (const Part& part : request) {
      (*left)[part.resource] -= part.amount * share.count * sign;
    }
  }
}

// Group after group in the given order; undoes itself on failure.
bool place_greedily(Cluster& cluster, const Shape& shape, const Scope& scope, Overlay* overlay,
                    const std::vector<Index>& order, std::vector<Share>& shares) {
  for (const Index group : order) {
    const Wanted wanted = wanted_by(cluster, shape, group, shares);
    const std::size_t before = shares.size();
    const std::int64_t found = collect(cluster, scope, wanted, group, overlay, shares);
    if (found < wanted.count) {
      shares.resize(before);
      unplace(cluster, shape, overlay, shares);
      shares.clear();
      return false;
    }
    for (std::size_t i = before; i < shares.size(); ++i) {
      take(cluster, shape, overlay, shares[i], +1);
    }
  }
  return true;
}

// Every group alone must find its places: a cheap test that most failures end with.
Placed place_alone(const Cluster& cluster, const Shape& shape, const Scope& scope,
                   const Overlay* overlay) {
  Placed result;
  for (Index group = 0; group < shape.groups.size(); ++group) {
    const Wanted wanted = wanted_by(cluster, shape, group, {});
    std::vector<Share> shares;
    const std::int64_t found = collect(cluster, scope, wanted, group, overlay, shares);
    if (found < wanted.count) {
      result.outcome = Placed::Outcome::short_of_places;
      result.group = group;
      result.missing = wanted.count - found;
      result.shares.clear();
      return result;
    }
    if (group == 0) {
      result.shares = std::move(shares);
    }
  }
  return result;
}

}  // namespace

const std::vector<Index>& Scope::classes(const Kind& kind) const {
  static const std::vector<Index> kNoClasses;
  if (domain == nullptr) {
    return kind.classes;
  }
  const KindDomain* found = Cluster::find_domain(kind, *domain);
  return found == nullptr ? kNoClasses : found->classes;
}

std::int64_t places(const Cluster& cluster, const Kind& kind, const Overlay* overlay,
                    std::int64_t most, const Scope& scope) {
  std::vector<Share> shares;
  return collect(cluster, scope, {kind, most}, 0, overlay, shares);
}

void unplace(Cluster& cluster, const Shape& shape, Overlay* overlay,
             const std::vector<Share>& shares) {
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    take(cluster, shape, overlay, *share, -1);
  }
}

Placed place_in(Cluster& cluster, const Shape& shape, const Scope& scope, Overlay* overlay,
                std::uint32_t steps_max) {
  Placed result = place_alone(cluster, shape, scope, overlay);
  if (!result.ok()) {
    return result;
  }
  const std::uint64_t before = cluster.changes();
  if (shape.groups.size() <= 1) {
    for (const Share& share : result.shares) {
      take(cluster, shape, overlay, share, +1);
    }
    return result;
  }
  result.shares.clear();
  std::vector<Index> order(shape.groups.size());
  std::iota(order.begin(), order.end(), Index{0});
  if (place_greedily(cluster, shape, scope, overlay, order, result.shares)) {
    return result;
  }
  // A search walks classes: nodes that are listed one by one are few, and get the turns below.
  if (shape.pods <= kSearchPodsMax && scope.nodes == nullptr) {
    PlacementSearch search(cluster, shape, scope, overlay, steps_max);
    if (search.run(result.shares)) {
      return result;
    }
    result.cut_short = search.cut_short();
  } else {
    // Each turn walks the nodes for every group.
    const std::size_t turns = std::min(order.size(), steps_max / order.size() + 1);
    for (std::size_t turn = 1; turn < turns; ++turn) {
      std::rotate(order.begin(), order.begin() + 1, order.end());
      if (place_greedily(cluster, shape, scope, overlay, order, result.shares)) {
        return result;
      }
    }
    result.cut_short = true;
  }
  result.outcome = Placed::Outcome::not_together;
  cluster.undone_since(before);
  return result;
}

}  // namespace codeflare::sched
