#include "sched/internal/placement_search.h"

#include <algorithm>

namespace codeflare::sched {

namespace {

// Nodes that look like one already tried cost little to pass: so many count as one step.
constexpr std::uint64_t kSkipsPerStep = 16;

std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9U;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

std::uint64_t mix_row(std::uint64_t seed, const Amount* row, Index columns) {
  for (Index i = 0; i < columns; ++i) {
    seed = mix(seed + static_cast<std::uint64_t>(row[i]) + i);
  }
  return seed;
}

}  // namespace

PlacementSearch::PlacementSearch(Cluster& cluster, const Shape& shape, const Scope& scope,
                                 Overlay* overlay, std::uint32_t steps_max)
    : cluster_(cluster),
      shape_(shape),
      scope_(scope),
      overlay_(overlay),
      steps_max_(steps_max * kSkipsPerStep) {
  for (const Group& group : shape.groups) {
    nodes_alike_ = nodes_alike_ && !cluster.kind(group.kind).per_node && group.apart == 0;
  }
}

bool PlacementSearch::run(std::vector<Share>& shares) {
  if (!place_pod(0, shape_.groups.front().count)) {
    return false;
  }
  shares.clear();
  for (const Share& share : shares_) {
    const auto same = std::find_if(shares.begin(), shares.end(), [&](const Share& each) {
      return each.group == share.group && each.node == share.node;
    });
    if (same == shares.end()) {
      shares.push_back(share);
    } else {
      same->count += share.count;
    }
  }
  return true;
}

// Equal for interchangeable nodes: class, free amounts, and what a reservation leaves.
std::uint64_t PlacementSearch::look(Index node) const {
  // Mixed before the row is added: else the next class with one less of the first resource looks
  // the same.
  const std::uint64_t home = mix(std::uint64_t{cluster_.nodes()[node].node_class} + 1);
  std::uint64_t seed = mix_row(home, cluster_.free(node), cluster_.order().resources);
  if (overlay_ != nullptr) {
    if (const auto* left = overlay_->find(node)) {
      seed = mix_row(~seed, left->data(), cluster_.order().resources);
    }
  }
  return seed;
}

std::uint64_t PlacementSearch::state_key(Index group, std::int64_t left) const {
  return mix(state_ + mix((std::uint64_t{group} << 32) + static_cast<std::uint64_t>(left)));
}

void PlacementSearch::move(Index node, const Request& request, std::int64_t count) {
  state_ ^= mix(look(node) + node);
  cluster_.take(node, request, count);
  if (overlay_ != nullptr) {
    if (auto* left = overlay_->find(node)) {
      for (const Part& part : request) {
        (*left)[part.resource] -= part.amount * count;
      }
    }
  }
  state_ ^= mix(look(node) + node);
}

bool PlacementSearch::may_use(Index node, Index group) const {
  const Group& asking = shape_.groups[group];
  if (asking.apart == 0) {
    return true;
  }
  return std::find(asking.taken.begin(), asking.taken.end(), node) == asking.taken.end() &&
         std::none_of(shares_.begin(), shares_.end(), [&](const Share& share) {
           return share.node == node && shape_.groups[share.group].apart == asking.apart;
         });
}

bool PlacementSearch::try_node(Index node, Index group, std::int64_t left) {
  const Request& request = cluster_.kind(shape_.groups[group].kind).request;
  // Where it is matters to those that keep apart from it, however much is left there.
  const std::uint64_t apart = shape_.groups[group].apart;
  const std::uint64_t mark = apart == 0 ? 0 : mix((apart << 32) + node);
  move(node, request, +1);
  state_ ^= mark;
  shares_.push_back({group, node, 1});
  if (place_pod(group, left - 1)) {
    return true;
  }
  shares_.pop_back();
  state_ ^= mark;
  move(node, request, -1);
  return false;
}

bool PlacementSearch::place_pod(Index group, std::int64_t left) {
  if (left == 0) {
    if (++group == shape_.groups.size()) {
      return true;
    }
    left = shape_.groups[group].count;
  }
  const std::uint64_t key = state_key(group, left);
  if (failed_.contains(key)) {
    return false;
  }
  const Kind& kind = cluster_.kind(shape_.groups[group].kind);
  std::vector<std::uint64_t> looks;
  Index last = kNone;
  for (bool more = true; more;) {
    const auto& classes = scope_.classes(kind);
    BestFitWalk walk = last == kNone ? BestFitWalk(cluster_, kind, classes, overlay_)
                                     : BestFitWalk(cluster_, kind, classes, overlay_, last);
    more = false;
    for (Index node = walk.next(); node != kNone; node = walk.next()) {
      if (++steps_ > steps_max_) {
        cut_short_ = true;
        return false;
      }
      if (!may_use(node, group)) {
        continue;
      }
      const std::uint64_t seen = look(node);
      if (nodes_alike_ && std::find(looks.begin(), looks.end(), seen) != looks.end()) {
        continue;
      }
      looks.push_back(seen);
      steps_ += kSkipsPerStep - 1;
      if (try_node(node, group, left)) {
        return true;
      }
      if (cut_short_) {
        return false;
      }
      // The indexes have moved under the walk: begin another behind this node.
      last = node;
      more = true;
      break;
    }
  }
  failed_.insert(key);
  return false;
}

}  // namespace codeflare::sched
