#pragma once

#include "sched/internal/cluster.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// Less than what is free on some nodes: what a reservation leaves to others.
struct Overlay {
  std::unordered_map<Index, std::vector<Amount>> left;

  // Null where nothing is reserved.
  std::vector<Amount>* find(Index node) {
    const auto entry = left.find(node);
    return entry == left.end() ? nullptr : &entry->second;
  }
  const std::vector<Amount>* find(Index node) const {
    const auto entry = left.find(node);
    return entry == left.end() ? nullptr : &entry->second;
  }
};

// How many more pods of one set and kind the node takes now, at most `most`.
std::int64_t room(const Cluster& cluster, const Kind& kind, Index node, const Overlay* overlay,
                  std::int64_t most);

// The nodes that hold at least one pod of a kind, best fit first, over these of its classes. Valid
// while the cluster does not change.
class BestFitWalk {
 public:
  BestFitWalk(const Cluster& cluster, const Kind& kind, const std::vector<Index>& classes,
              const Overlay* overlay);
  // Begins behind this node instead.
  BestFitWalk(const Cluster& cluster, const Kind& kind, const std::vector<Index>& classes,
              const Overlay* overlay, Index behind);

  Index next();  // kNone at the end

 private:
  struct Head {
    const ClassIndex* index = nullptr;
    ClassIndex::Cursor cursor;
    Index node = kNone;
  };
  // Moves the head to its next node that fits; false at its end.
  bool settle(Head& head) const;
  void add(Index node_class, ClassIndex::Cursor cursor);

  const Cluster& cluster_;
  const Kind& kind_;
  const Overlay* overlay_;
  std::vector<Head> heads_;
};

}  // namespace codeflare::sched
