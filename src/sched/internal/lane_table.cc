#include "sched/internal/lane_table.h"

#include "base/check.h"
#include "sched/internal/order.h"

#include <functional>

namespace codeflare::sched {

std::size_t LaneKeyHash::operator()(const LaneKey& key) const {
  std::size_t hash = std::hash<Index>{}(key.shape);
  const auto combine = [&](std::size_t value) { hash = (hash * 0x9e3779b97f4a7c15U) ^ value; };
  combine(std::hash<Index>{}(key.path));
  combine(std::hash<double>{}(key.slope));
  combine(std::hash<std::int64_t>{}(key.limit.count()));
  return hash ^ (hash >> 29);
}

Index LaneTable::find(const LaneKey& key) const {
  const auto entry = by_key_.find(key);
  return entry == by_key_.end() ? kNone : entry->second;
}

Index LaneTable::acquire(const LaneKey& key) {
  const auto [entry, added] = by_key_.try_emplace(key, kNone);
  if (!added) {
    return entry->second;
  }
  if (free_.empty()) {
    entry->second = static_cast<Index>(lanes_.size());
    lanes_.emplace_back();
  } else {
    entry->second = free_.back();
    free_.pop_back();
  }
  Lane& lane = lanes_[entry->second];
  const std::uint32_t nap = lane.nap + 1;
  lane = Lane{.key = key, .alive = true, .nap = nap};
  return entry->second;
}

void LaneTable::remove(Index lane) {
  CHECK(lanes_[lane].heap.empty(), "a lane is removed while gangs wait in it");
  by_key_.erase(lanes_[lane].key);
  const std::uint32_t nap = lanes_[lane].nap + 1;
  lanes_[lane] = Lane{.nap = nap};
  free_.push_back(lane);
}

void LaneTable::push(GangTable& gangs, Index lane, Index gang) {
  auto& heap = lanes_[lane].heap;
  gangs[gang].lane = lane;
  heap.push_back(gang);
  ++waiting_;
  sift_up(gangs, heap, heap.size() - 1);
  if (heap.front() == gang) {
    note_head(gangs, lanes_[lane]);
  }
}

void LaneTable::note_head(const GangTable& gangs, Lane& lane) {
  const Gang& head = gangs[lane.heap.front()];
  lane.head_priority = base_priority(head);
  lane.head_submitted = head.submitted;
}

void LaneTable::erase(GangTable& gangs, Index gang) {
  Lane& lane = lanes_[gangs[gang].lane];
  auto& heap = lane.heap;
  const std::size_t place = gangs[gang].lane_place;
  gangs[gang].lane = kNone;
  --waiting_;
  const Index last = heap.back();
  heap.pop_back();
  if (last != gang) {
    heap[place] = last;
    gangs[last].lane_place = static_cast<Index>(place);
    sift_up(gangs, heap, place);
    sift_down(gangs, heap, gangs[last].lane_place);
  }
  if (place == 0 && !heap.empty()) {
    note_head(gangs, lane);
  }
}

void LaneTable::sift_up(GangTable& gangs, std::vector<Index>& heap, std::size_t place) {
  const Index gang = heap[place];
  while (place > 0) {
    const std::size_t parent = (place - 1) / 2;
    if (!ahead_in_lane(gangs[gang], gangs[heap[parent]])) {
      break;
    }
    heap[place] = heap[parent];
    gangs[heap[place]].lane_place = static_cast<Index>(place);
    place = parent;
  }
  heap[place] = gang;
  gangs[gang].lane_place = static_cast<Index>(place);
}

void LaneTable::sift_down(GangTable& gangs, std::vector<Index>& heap, std::size_t place) {
  const Index gang = heap[place];
  for (std::size_t child = 2 * place + 1; child < heap.size(); child = 2 * place + 1) {
    if (child + 1 < heap.size() && ahead_in_lane(gangs[heap[child + 1]], gangs[heap[child]])) {
      ++child;
    }
    if (!ahead_in_lane(gangs[heap[child]], gangs[gang])) {
      break;
    }
    heap[place] = heap[child];
    gangs[heap[place]].lane_place = static_cast<Index>(place);
    place = child;
  }
  heap[place] = gang;
  gangs[gang].lane_place = static_cast<Index>(place);
}

std::size_t LaneTable::memory_bytes() const {
  std::size_t bytes = lanes_.capacity() * sizeof(Lane) + by_key_.size() * 64;
  for (const Lane& lane : lanes_) {
    bytes += lane.heap.capacity() * sizeof(Index);
  }
  return bytes;
}

}  // namespace codeflare::sched
