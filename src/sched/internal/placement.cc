#include "sched/internal/placement.h"

#include "sched/internal/placement_search.h"

#include <algorithm>
#include <numeric>

namespace codeflare::sched {

namespace {

// Pods beyond which a search is hopeless within any sensible number of steps.
constexpr std::int64_t kSearchPodsMax = 64;

// What one group wants of the cluster as it is.
struct Wanted {
  const Kind& kind;
  std::int64_t count = 0;
  std::vector<Index> taken{};  // nodes that are not for it; sorted
};

// Best fit: appends shares with the group's number, takes nothing.
std::int64_t collect(const Cluster& cluster, const Wanted& wanted, Index group,
                     const Overlay* overlay, std::vector<Share>& shares) {
  BestFitWalk walk(cluster, wanted.kind, overlay);
  std::int64_t found = 0;
  while (found < wanted.count) {
    const Index node = walk.next();
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
bool place_greedily(Cluster& cluster, const Shape& shape, Overlay* overlay,
                    const std::vector<Index>& order, std::vector<Share>& shares) {
  for (const Index group : order) {
    const Wanted wanted = wanted_by(cluster, shape, group, shares);
    const std::size_t before = shares.size();
    const std::int64_t found = collect(cluster, wanted, group, overlay, shares);
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
Placed place_alone(const Cluster& cluster, const Shape& shape, const Overlay* overlay) {
  Placed result;
  for (Index group = 0; group < shape.groups.size(); ++group) {
    const Wanted wanted = wanted_by(cluster, shape, group, {});
    std::vector<Share> shares;
    const std::int64_t found = collect(cluster, wanted, group, overlay, shares);
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

std::int64_t places(const Cluster& cluster, const Kind& kind, const Overlay* overlay,
                    std::int64_t most) {
  std::vector<Share> shares;
  return collect(cluster, {kind, most}, 0, overlay, shares);
}

void unplace(Cluster& cluster, const Shape& shape, Overlay* overlay,
             const std::vector<Share>& shares) {
  for (auto share = shares.rbegin(); share != shares.rend(); ++share) {
    take(cluster, shape, overlay, *share, -1);
  }
}

Placed place(Cluster& cluster, const Shape& shape, Overlay* overlay, std::uint32_t steps_max) {
  Placed result = place_alone(cluster, shape, overlay);
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
  if (place_greedily(cluster, shape, overlay, order, result.shares)) {
    return result;
  }
  if (shape.pods <= kSearchPodsMax) {
    PlacementSearch search(cluster, shape, overlay, steps_max);
    if (search.run(result.shares)) {
      return result;
    }
    result.cut_short = search.cut_short();
  } else {
    // Each turn walks the nodes for every group.
    const std::size_t turns = std::min(order.size(), steps_max / order.size() + 1);
    for (std::size_t turn = 1; turn < turns; ++turn) {
      std::rotate(order.begin(), order.begin() + 1, order.end());
      if (place_greedily(cluster, shape, overlay, order, result.shares)) {
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
