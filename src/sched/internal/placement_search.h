#pragma once

#include "sched/internal/placement.h"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace codeflare::sched {

// Depth-first search for a place of every pod: groups hardest first, nodes best fit first, so the
// answer is the first of all solutions in that order. States that failed and nodes that look alike
// are tried once. Works on the cluster itself and leaves it as it was unless it succeeds.
class PlacementSearch {
 public:
  PlacementSearch(Cluster& cluster, const Shape& shape, const Scope& scope, Overlay* overlay,
                  std::uint32_t steps_max);

  bool run(std::vector<Share>& shares);
  // The step limit ended it before all was tried.
  bool cut_short() const { return cut_short_; }

 private:
  bool place_pod(Index group, std::int64_t left);
  bool may_use(Index node, Index group) const;
  bool try_node(Index node, Index group, std::int64_t left);
  void move(Index node, const Request& request, std::int64_t count);
  std::uint64_t look(Index node) const;
  std::uint64_t state_key(Index group, std::int64_t left) const;

  Cluster& cluster_;
  const Shape& shape_;
  const Scope& scope_;
  Overlay* overlay_;
  std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;
  bool cut_short_ = false;
  bool nodes_alike_ = true;  // no kind looks at single nodes
  std::uint64_t state_ = 0;  // hash of all nodes touched
  std::unordered_set<std::uint64_t> failed_;
  std::vector<Share> shares_;
};

}  // namespace codeflare::sched
