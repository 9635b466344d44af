#include "sched/internal/elastic_table.h"

#include <algorithm>
#include <utility>

namespace codeflare::sched {

namespace {

auto find_slot(GrownSlots& slots, Index node) {
  return std::ranges::find_if(slots, [&](const GrownSlot& slot) { return slot.node == node; });
}

}  // namespace

std::int64_t total(const GrownSlots& slots) {
  std::int64_t sum = 0;
  for (const GrownSlot& slot : slots) {
    sum += slot.count;
  }
  return sum;
}

std::int64_t on_node(const GrownSlots& slots, Index node) {
  for (const GrownSlot& slot : slots) {
    if (slot.node == node) {
      return slot.count;
    }
  }
  return 0;
}

void put(GrownSlots& slots, Index node, std::int64_t count) {
  if (count == 0) {
    return;
  }
  if (const auto slot = find_slot(slots, node); slot != slots.end()) {
    slot->count += count;
    return;
  }
  slots.push_back({node, count});
}

std::int64_t take(GrownSlots& slots, Index node, std::int64_t count) {
  const auto slot = find_slot(slots, node);
  if (slot == slots.end()) {
    return 0;
  }
  const std::int64_t taken = std::min(count, slot->count);
  slot->count -= taken;
  if (slot->count == 0) {
    slots.erase(slot);
  }
  return taken;
}

Index ElasticTable::add(Index gang, std::uint32_t pod_set, Sizes sizes, const std::string& name) {
  Index elastic = 0;
  if (free_.empty()) {
    elastic = static_cast<Index>(all_.size());
    all_.emplace_back();
  } else {
    elastic = free_.back();
    free_.pop_back();
  }
  Elastic& added = all_[elastic] = Elastic{};
  added.gang = gang;
  added.pod_set = pod_set;
  added.sizes = std::move(sizes);
  added.queue = queue(name);
  return elastic;
}

void ElasticTable::remove(Index elastic) {
  set_active(elastic, false);
  std::erase(dirty_, elastic);
  all_[elastic] = Elastic{};
  free_.push_back(elastic);
}

void ElasticTable::set_active(Index elastic, bool active) {
  Elastic& changed = all_[elastic];
  if (changed.active == active) {
    return;
  }
  changed.active = active;
  if (active) {
    ++active_;
    touch(elastic);
  } else {
    --active_;
    unwant(elastic);
    unhold(elastic);
  }
}

void ElasticTable::touch(Index elastic) {
  if (std::exchange(all_[elastic].dirty, true)) {
    return;
  }
  dirty_.push_back(elastic);
}

std::vector<Index> ElasticTable::take_dirty() {
  for (const Index elastic : dirty_) {
    all_[elastic].dirty = false;
  }
  return std::exchange(dirty_, {});
}

void ElasticTable::want(Index elastic, const GrowthLaneKey& lane, const WantKey& key) {
  Elastic& wanting = all_[elastic];
  const auto same = [](const WantKey& a, const WantKey& b) { return !(a < b) && !(b < a); };
  if (wanting.wants && wanting.lane == lane && same(wanting.want, key)) {
    return;
  }
  unwant(elastic);
  wanting.wants = true;
  wanting.lane = lane;
  wanting.want = key;
  GrowthLane& joined = lanes_[lane];
  const auto [place, added] = joined.line.insert(key);
  // A new head may have a priority or a worth that others must give way to.
  if (place == joined.line.begin()) {
    joined.asleep = false;
  }
}

void ElasticTable::unwant(Index elastic) {
  Elastic& content = all_[elastic];
  if (!std::exchange(content.wants, false)) {
    return;
  }
  const auto lane = lanes_.find(content.lane);
  lane->second.line.erase(content.want);
  if (lane->second.line.empty()) {
    lanes_.erase(lane);
  }
}

void ElasticTable::hold(Index elastic, const HoldKey& key) {
  Elastic& holding = all_[elastic];
  unhold(elastic);
  holding.holds = true;
  holding.hold = key;
  holders_.insert(key);
}

void ElasticTable::unhold(Index elastic) {
  Elastic& holding = all_[elastic];
  if (std::exchange(holding.holds, false)) {
    holders_.erase(holding.hold);
  }
}

void ElasticTable::wake_lanes() {
  for (auto& [key, lane] : lanes_) {
    lane.asleep = false;
  }
}

Index ElasticTable::queue(const std::string& name) {
  const auto [known, added] = queue_by_name_.try_emplace(name, static_cast<Index>(queues_.size()));
  if (added) {
    queues_.push_back({.name = name});
  }
  return known->second;
}

}  // namespace codeflare::sched
