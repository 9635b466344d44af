#pragma once

#include "base/result.h"
#include "sched/decision.h"
#include "sched/internal/cluster.h"
#include "sched/spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace codeflare::sched {

// The pods of one kind in a gang; several pod sets may share a kind, unless their pods keep apart.
struct Group {
  Index kind = 0;
  std::int64_t count = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> sets;  // pod set and its count
  std::uint32_t apart = 0;                                   // PodSet::apart
  // Nodes that hold one of the pods from which it keeps apart; any order.
  std::vector<Index> taken{};
};

struct ShapeSet {
  Index kind = 0;
  std::int64_t count = 0;
  Request charge;  // of one pod
  std::uint32_t apart = 0;
};

// The request of a gang: the same for all gangs that look alike.
struct Shape {
  std::vector<Group> groups;  // hardest to place first
  std::vector<ShapeSet> sets;
  Request charge;  // of the whole gang, to quota
  Request total;   // of the whole gang, on nodes
  std::int64_t pods = 0;
  Within within{};
  // Of the rest of a gang that runs: where it is.
  std::optional<DomainValues> home{};
  std::string signature;
  Index refs = 0;
  std::vector<Index> lanes;

  // Placement failed and nothing that matters has grown since.
  bool asleep = false;
  Reason why = Reason::none;
  std::uint64_t why_at = ~std::uint64_t{0};  // Cluster::changes() when `why` was true
  bool cut_short = false;
  bool hopes = false;         // woken in this step because nodes grew
  Index short_group = kNone;  // the one without places when it fell asleep; none: not together
  std::uint32_t nap = 0;      // counts naps: an alarm set for an older one is void
};

class ShapeTable {
 public:
  // One more gang of this shape; rejects negative counts and absurd amounts.
  Result<Index> acquire(Cluster& cluster, const std::vector<PodSet>& pod_sets,
                        const Within& within = {});
  // One more gang of the shape that has `count` pods in this pod set, and else equals that one.
  Result<Index> acquire_with(Cluster& cluster, Index like, std::uint32_t pod_set,
                             std::int64_t count);
  void add_ref(Index shape) { ++shapes_[shape].refs; }
  void release(Cluster& cluster, Index shape);

  Shape& operator[](Index shape) { return shapes_[shape]; }
  const Shape& operator[](Index shape) const { return shapes_[shape]; }
  Index size() const { return static_cast<Index>(shapes_.size()); }
  std::size_t memory_bytes() const;

 private:
  // Its kinds are acquired; they are released if the shape is known.
  Index intern(Cluster& cluster, Shape shape);

  std::vector<Shape> shapes_;
  std::vector<Index> free_;
  std::unordered_map<std::string, Index> by_signature_;
};

}  // namespace codeflare::sched
