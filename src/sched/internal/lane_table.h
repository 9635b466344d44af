#pragma once

#include "sched/decision.h"
#include "sched/internal/gang_table.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace codeflare::sched {

// Everything that decides whether a waiting gang can start, besides its place in line.
struct LaneKey {
  Index shape = kNone;
  Index path = kNone;  // through the quota forest
  double slope = 0;    // with Options::priority_slope only
  Duration limit{};    // what is left of it; with a holding time only
  friend bool operator==(const LaneKey&, const LaneKey&) = default;
};

struct LaneKeyHash {
  std::size_t operator()(const LaneKey& key) const;
};

// Waiting gangs that only their place in line tells apart: if the first cannot start, none can.
struct Lane {
  LaneKey key;
  std::vector<Index> heap;  // gangs, the first in line on top
  // Of the first in line: lanes are compared without a look at their gangs.
  double head_priority = 0;
  Time head_submitted{};
  bool alive = false;
  bool ready = false;    // to be tried
  bool in_heap = false;  // of the step that is trying them
  Reason why = Reason::none;
  std::uint32_t nap = 0;    // counts naps: an alarm set for an older one is void
  std::uint32_t turns = 0;  // holding times that it has used up as head of the line
  std::uint64_t no_reserve_at = ~std::uint64_t{0};  // state of the nodes that cannot hold it
};

// Lanes and the heaps in them.
class LaneTable {
 public:
  Index acquire(const LaneKey& key);  // found or made
  Index find(const LaneKey& key) const;
  void remove(Index lane);  // it is empty

  void push(GangTable& gangs, Index lane, Index gang);
  void erase(GangTable& gangs, Index gang);
  Index head(Index lane) const { return lanes_[lane].heap.front(); }

  Lane& operator[](Index lane) { return lanes_[lane]; }
  const Lane& operator[](Index lane) const { return lanes_[lane]; }
  const std::vector<Lane>& all() const { return lanes_; }
  std::size_t waiting() const { return waiting_; }
  std::size_t memory_bytes() const;

 private:
  void note_head(const GangTable& gangs, Lane& lane);
  void sift_up(GangTable& gangs, std::vector<Index>& heap, std::size_t place);
  void sift_down(GangTable& gangs, std::vector<Index>& heap, std::size_t place);

  std::vector<Lane> lanes_;
  std::vector<Index> free_;
  std::unordered_map<LaneKey, Index, LaneKeyHash> by_key_;
  std::size_t waiting_ = 0;
};

}  // namespace codeflare::sched
